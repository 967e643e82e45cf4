#include "base/result.h"

#include <cerrno>
#include <system_error>

namespace teson {

Error make_errno_error(std::string what, int error_number) {
  const ErrorKind kind = error_number == ENOSPC || error_number == EDQUOT ? ErrorKind::kUnavailable : ErrorKind::kIo;
  return Error{kind, std::move(what) + ": " + std::generic_category().message(error_number)};
}

std::unexpected<Error> errno_error(std::string what) {
  return std::unexpected(make_errno_error(std::move(what), errno));
}

}  // namespace teson
