// Job output is bytes, JSON is UTF-8: this makes the one out of the other. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace teson::logs {

// `bytes` as well-formed UTF-8: each maximal part of a broken sequence becomes one U+FFFD, as the Unicode standard
// (chapter 3.9) and most decoders do. Well-formed text, NULs included, comes back unchanged.
std::string valid_utf8(std::string_view bytes);

}  // namespace teson::logs
