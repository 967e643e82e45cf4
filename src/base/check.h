// A broken invariant ends the program, in release too: going on would risk work that was promised.
#pragma once

#include <string_view>

namespace teson {
[[noreturn]] void check_failed(std::string_view expression, std::string_view message, const char* file, int line);
}  // namespace teson

#define TESON_CHECK(condition, message) \
  (static_cast<bool>(condition) ? void(0) : ::teson::check_failed(#condition, (message), __FILE__, __LINE__))
