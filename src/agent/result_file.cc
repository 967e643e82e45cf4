#include "agent/result_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "attempt_dir/files.h"
#include "attempt_dir/paths.h"

namespace teson {

// One block of most file systems. A result has at most 2 x 255 characters of text, each at most 6 bytes as JSON.
constexpr off_t kReserveBytes = 4096;

Status ResultFile::reserve() {
  OwnedFd file(::open(kResultReserve, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0644));
  if (!file) return errno_error(std::string("cannot create ") + kResultReserve);
  const int error = ::posix_fallocate(file.get(), 0, kReserveBytes);
  if (error != 0) {
    ::unlink(kResultReserve);
    return std::unexpected(make_errno_error("cannot take 4 KiB of disk for the result", error));
  }
  file_ = std::move(file);
  return {};
}

Status ResultFile::publish(const AttemptResult& result) {
  if (!file_) {
    if (const Status status = reserve(); !status) return status;
  }
  const std::string text = encode_result(result);
  if (::pwrite(file_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return errno_error("cannot write the result");
  }
  // Cut after writing: the room is given back only when it is no longer needed.
  if (::ftruncate(file_.get(), static_cast<off_t>(text.size())) != 0) return errno_error("cannot cut the result");
  // Not synced: that would cost a small task more than its program. A process that is killed loses nothing of what was
  // written; a host that loses its power does, and the attempt then counts as lost (docs/decisions/0017).
  // The job may have removed it: then this fails, and the next try makes it anew.
  if (::rename(kResultReserve, kResultFile) != 0) {
    const int error = errno;
    // Or it has put a directory in the result's place, which no rename replaces: out of the way with it.
    if (error == EISDIR) (void)!::rename(kResultFile, fmt::format("{}.of-the-job.{}", kResultFile, ::getpid()).c_str());
    file_.reset();
    return std::unexpected(make_errno_error("cannot rename the result", error));
  }
  return {};
}

}  // namespace teson
