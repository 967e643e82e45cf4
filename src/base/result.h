// Expected failures: a kind that a caller can branch on, and a message that a user can act on.
//
// A message says what was wrong, which value, and what would be right. No exception crosses a layer;
// a broken invariant is not a Result: it aborts through TESON_CHECK (base/check.h).
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace teson {

enum class ErrorKind {
  kInvalid,      // the request or value is wrong and will stay wrong
  kNotFound,     // the thing named does not exist
  kConflict,     // it exists already, or its state does not permit this
  kDenied,       // authentication or permission
  kUnavailable,  // right now impossible, later perhaps not: disk full, shutting down
  kIo,           // the operating system refused; the message carries its text
};

struct Error {
  ErrorKind kind = ErrorKind::kInvalid;
  std::string message;
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

inline std::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return std::unexpected(Error{kind, std::move(message)});
}
inline std::unexpected<Error> invalid(std::string message) { return fail(ErrorKind::kInvalid, std::move(message)); }
inline std::unexpected<Error> not_found(std::string message) { return fail(ErrorKind::kNotFound, std::move(message)); }
inline std::unexpected<Error> conflict(std::string message) { return fail(ErrorKind::kConflict, std::move(message)); }

// The last system call's failure: "open /x/y: Permission denied". Reads errno.
std::unexpected<Error> errno_error(std::string what);
Error make_errno_error(std::string what, int error_number);

}  // namespace teson
