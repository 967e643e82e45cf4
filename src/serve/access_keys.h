// The keys that may speak to the server: <data>/credentials, in AWS's own ini form, readable by its owner alone.
#pragma once

#include <string>

#include "api/http/auth.h"
#include "base/result.h"

namespace teson {

// Reads the file; makes it with one fresh key (profile `default`) if it is absent. A file that others may read is
// refused, and so is one without a whole key.
Result<http::FixedCredentials> open_access_keys(const std::string& data);

}  // namespace teson
