#include "adapters/journal_sqlite/data_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <fstream>
#include <utility>

#include "base/file_kind.h"

namespace teson {
namespace {

std::unexpected<Error> unusable(const std::string& path, int error_number) {
  if (error_number == EACCES || error_number == EPERM || error_number == EROFS) {
    return fail(
        ErrorKind::kDenied,
        fmt::format("the data directory {} cannot be written by user {}: {}. Change its owner or permissions, or "
                    "choose another one with --data",
                    path, geteuid(), make_errno_error("", error_number).message.substr(2)));
  }
  if (error_number == ENOTDIR || error_number == EEXIST) {
    return invalid(fmt::format("the data directory {} is not a directory: name a directory with --data", path));
  }
  return std::unexpected(make_errno_error("the data directory " + path + " cannot be used", error_number));
}

// mkdir -p. Returns errno, 0 when all is there.
int make_directories(const std::string& path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      // A parent that cannot be written is no matter as long as it is there.
      const int error_number = errno;
      struct stat info;
      if (stat(part.c_str(), &info) != 0) return error_number;
    }
    if (end == std::string::npos) break;
  }
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return errno;
  return S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
}

// The pid of the server that wrote it; empty if none did.
std::string read_holder(int lock) {
  char text[32] = {};
  const ssize_t length = pread(lock, text, sizeof text - 1, 0);
  std::string pid(text, length > 0 ? static_cast<size_t>(length) : 0);
  while (!pid.empty() && pid.back() == '\n') pid.pop_back();
  return pid;
}

// No such process, or one of which only the entry is left.
bool is_dead(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string text;
  if (!std::getline(file, text)) return true;
  const size_t name_end = text.rfind(") ");
  return name_end != std::string::npos && name_end + 2 < text.size() && text[name_end + 2] == 'Z';
}

// False: somebody else holds it. The lock of a server that was killed lasts as long as a process that it was starting
// at that moment takes to begin: that is waited for, a server that lives is not.
bool take_lock(int lock) {
  constexpr int kTries = 150;
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 20'000'000};
  for (int i = 0; i < kTries; ++i) {
    if (flock(lock, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK) return false;
    const std::string holder = read_holder(lock);
    if (holder.empty() || !is_dead(holder)) break;
    nanosleep(&kPause, nullptr);
  }
  errno = EWOULDBLOCK;
  return false;
}

Status write_holder(int lock, const std::string& path) {
  const std::string pid = fmt::format("{}\n", getpid());
  if (ftruncate(lock, 0) != 0) return unusable(path, errno);
  if (pwrite(lock, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) return unusable(path, errno);
  return {};
}

}  // namespace

DataDirectory::DataDirectory(DataDirectory&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

DataDirectory::~DataDirectory() {
  if (lock_ >= 0) close(lock_);
}

Result<DataDirectory> open_data_directory(const std::string& path) {
  if (path.empty()) return invalid("the data directory's path is empty: name a directory with --data");
  if (const int error_number = make_directories(path); error_number != 0) return unusable(path, error_number);
  const std::string lock_path = path + "/lock";
  const int lock = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
  const int open_error = errno;
  // A FIFO or a device can be opened; the others cannot, for reasons that say little (ELOOP, ENXIO).
  if (const auto kind = file_kind_at(lock_path); !kind.empty() && kind != file_kind(S_IFREG)) {
    if (lock >= 0) close(lock);
    return invalid(
        fmt::format("{} is {}, but the server has its lock there, in a regular file: move it away, or choose "
                    "another data directory with --data",
                    lock_path, kind));
  }
  if (lock < 0) return unusable(path, open_error);
  DataDirectory directory(path, lock);
  if (access(path.c_str(), R_OK | W_OK | X_OK) != 0) return unusable(path, errno);
  if (!take_lock(lock)) {
    if (errno != EWOULDBLOCK) return unusable(path, errno);
    const std::string holder = read_holder(lock);
    return conflict(
        fmt::format("the data directory {} is in use by {}: stop that server, or choose another directory "
                    "with --data",
                    path, holder.empty() ? "another process" : "process " + holder));
  }
  // A full disk must not keep a server from starting: the pid is only for people.
  (void)write_holder(lock, path);
  return directory;
}

}  // namespace teson
