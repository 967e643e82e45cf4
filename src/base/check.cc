#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace teson {

void check_failed(std::string_view expression, std::string_view message, const char* file, int line) {
  std::fprintf(stderr, "teson: invariant broken at %s:%d: %.*s (%.*s)\n", file, line, static_cast<int>(message.size()),
               message.data(), static_cast<int>(expression.size()), expression.data());
  std::abort();
}

}  // namespace teson
