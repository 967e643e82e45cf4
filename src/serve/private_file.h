// Small files with secrets in them: read whole, written whole, for their owner's eyes alone.
//
// Any thread, one at a time for a path. A written file is the old one or the new one whatever happens, and the new one
// is on the disk when write_private_file returns.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace teson {

// nullopt: there is none. kDenied: others may read it.
Result<std::optional<std::string>> read_private_file(const std::string& path);
Status write_private_file(const std::string& path, const std::string& text);

}  // namespace teson
