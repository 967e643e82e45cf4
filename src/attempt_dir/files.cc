#include "attempt_dir/files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

namespace teson {

Result<std::string> read_file(const std::string& path, size_t limit) {
  // The job can put anything in place of its attempt's files: a FIFO must not block the reader, a link must not lead
  // away.
  const OwnedFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  if (!fd) {
    if (errno == ENOENT || errno == ENOTDIR) return not_found(path + " does not exist");
    return errno_error("cannot open " + path);
  }
  struct stat info;
  if (::fstat(fd.get(), &info) != 0) return errno_error("cannot look at " + path);
  if (!S_ISREG(info.st_mode)) return invalid(path + " is not a regular file");
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_error("cannot read " + path);
    if (n == 0) return text;
    text.append(buffer, static_cast<size_t>(n));
    if (text.size() > limit) return invalid(path + " is larger than " + std::to_string(limit) + " bytes");
  }
}

Status write_all(int fd, std::string_view bytes, const std::string& what) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_error("cannot write " + what);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Status sync_directory(const std::string& path) {
  const OwnedFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return errno_error("cannot open " + path);
  if (::fsync(fd.get()) != 0) return errno_error("cannot sync " + path);
  return {};
}

Status write_file(const std::string& path, std::string_view bytes, Durability durability, unsigned mode) {
  const std::string draft = path + ".new";
  OwnedFd fd(::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, static_cast<mode_t>(mode)));
  if (!fd) return errno_error("cannot create " + draft);
  Status status = write_all(fd.get(), bytes, draft);
  if (status && durability == Durability::kSynced && ::fsync(fd.get()) != 0)
    status = errno_error("cannot sync " + draft);
  if (status && ::rename(draft.c_str(), path.c_str()) != 0) status = errno_error("cannot rename " + draft);
  if (!status) {
    ::unlink(draft.c_str());
    return status;
  }
  if (durability == Durability::kRenameOnly) return {};
  const size_t slash = path.rfind('/');
  return sync_directory(slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash));
}

Status make_directories(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0) return {};
  if (errno == EEXIST) {
    struct stat info;
    if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return {};
    return fail(ErrorKind::kIo, "cannot create " + path + ": it exists and is not a directory");
  }
  const size_t slash = path.rfind('/');
  if (errno != ENOENT || slash == std::string::npos || slash == 0) return errno_error("cannot create " + path);
  if (const Status parent = make_directories(path.substr(0, slash)); !parent) return parent;
  if (::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) return {};
  return errno_error("cannot create " + path);
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::string clip(std::string text, size_t limit) {
  if (text.size() <= limit) return text;
  size_t end = limit - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

}  // namespace teson
