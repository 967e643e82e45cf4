// Figures and names in the sentences of this folder.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "domain/job.h"

namespace teson {

// "2026-03-01T14:05:09Z".
std::string utc_text(Instant at);
// "0.4 s", "12 s", "3 min 5 s", "2 h 4 min", "3 d 7 h".
std::string span_text(Duration span);
// At most `size` bytes, whole UTF-8 characters, "..." where something was left out.
std::string clipped(std::string_view text, size_t size);
// Eight hexadecimal digits and a child's index: what the commands take for the whole id.
std::string brief(const JobId& id);

}  // namespace teson
