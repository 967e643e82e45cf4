#include "attempt_dir/lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>

#include "attempt_dir/codec.h"
#include "attempt_dir/files.h"
#include "base/process_stat.h"

namespace teson {

Result<OwnedFd> open_lock(const std::string& path, bool must_exist) {
  OwnedFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (must_exist ? 0 : O_CREAT), 0644));
  if (fd) return fd;
  if (errno == ENOENT || errno == ENOTDIR) return not_found(path + " does not exist");
  return errno_error("cannot open " + path);
}

bool try_lock(const OwnedFd& lock) {
  int result;
  do {
    result = ::flock(lock.get(), LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

FileIdentity identity_of(int fd) {
  struct stat info;
  return ::fstat(fd, &info) == 0 ? FileIdentity{info.st_dev, info.st_ino} : FileIdentity{};
}

FileIdentity identity_at(const std::string& path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0 ? FileIdentity{info.st_dev, info.st_ino} : FileIdentity{};
}

Status write_lock_record(int lock_fd, const LockRecord& record) {
  const std::string text = encode_lock_record(record);
  // In place: renaming would leave the flock on the old file.
  if (::pwrite(lock_fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    const int error = errno;
    if (::ftruncate(lock_fd, 0) != 0) return errno_error("cannot empty the lock file");
    return std::unexpected(make_errno_error("cannot write the lock file", error));
  }
  if (::ftruncate(lock_fd, static_cast<off_t>(text.size())) != 0) return errno_error("cannot cut the lock file");
  return {};
}

std::optional<LockRecord> read_lock_record(int lock_fd) {
  std::string text(16384, '\0');
  const ssize_t n = ::pread(lock_fd, text.data(), text.size(), 0);
  if (n <= 0) return std::nullopt;
  text.resize(static_cast<size_t>(n));
  return decode_lock_record(text);
}

static std::string read_boot_id() {
  auto text = read_file("/proc/sys/kernel/random/boot_id", 256);
  if (!text) return {};
  while (!text->empty() && text->back() == '\n') text->pop_back();
  return *text;
}

const std::string& current_boot_id() {
  // No process outlives the boot.
  static const std::string id = read_boot_id();
  return id;
}

std::optional<uint64_t> process_start_ticks(pid_t pid) {
  const auto stat = read_process_stat(pid);
  if (!stat) return std::nullopt;
  return stat->start_ticks;
}

OwnedFd open_agent(const LockRecord& record) {
  if (record.pid <= 0 || record.boot_id != current_boot_id()) return {};
  OwnedFd process(static_cast<int>(::syscall(SYS_pidfd_open, record.pid, 0)));
  if (!process || process_start_ticks(record.pid) != record.start_ticks) return {};
  return process;
}

}  // namespace teson
