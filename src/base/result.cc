#include "base/result.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace teson {

Error make_errno_error(std::string what, int error_number) {
  // What is short now and may not be in a moment.
  constexpr std::array kShort = {ENOSPC, EDQUOT, EMFILE, ENFILE, ENOMEM};
  const bool is_short = std::find(kShort.begin(), kShort.end(), error_number) != kShort.end();
  const ErrorKind kind = is_short ? ErrorKind::kUnavailable : ErrorKind::kIo;
  return Error{kind, std::move(what) + ": " + std::generic_category().message(error_number)};
}

std::unexpected<Error> errno_error(std::string what) {
  return std::unexpected(make_errno_error(std::move(what), errno));
}

}  // namespace teson
