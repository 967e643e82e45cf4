#include "agent/log_indexer.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

#include "attempt_dir/log_index.h"
#include "attempt_dir/paths.h"

namespace teson {

namespace {

// A program that is over by then is marked once, at its end, and has cost no watch.
constexpr Duration kFirstLook = Duration::millis(50);
constexpr Duration kInterval = Duration::millis(200);
// Less than this and writes fail: file systems round up, and keep some for themselves.
constexpr uint64_t kNoRoomBytes = 64 << 10;

bool is_full(int fd) {
  struct statvfs info;
  if (::fstatvfs(fd, &info) != 0) return false;
  return uint64_t{::geteuid() == 0 ? info.f_bfree : info.f_bavail} * info.f_frsize < kNoRoomBytes;
}

}  // namespace

LogIndexer::LogIndexer(int log_fd)
    : log_fd_(log_fd),
      index_(::open(kLogIndexFile, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)),
      deadline_(monotonic_now() + kFirstLook) {}

void LogIndexer::watch_and_mark() {
  watch();
  // Written between the last look and the watch: it would not be notified.
  if (mark()) deadline_ = monotonic_now() + kInterval;
}

void LogIndexer::watch() {
  deadline_.reset();
  if (!notify_) notify_.reset(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  const int watching = notify_ ? ::inotify_add_watch(notify_.get(), kLogFile, IN_MODIFY | IN_ONESHOT) : -1;
  // No inotify to be had (user limit): look at intervals instead.
  if (watching < 0) deadline_ = monotonic_now() + kInterval;
}

void LogIndexer::on_activity() {
  char events[1024];
  while (notify_ && ::read(notify_.get(), events, sizeof events) > 0) {
  }
  if (deadline_ && monotonic_now() < *deadline_) return;
  if (mark()) {
    deadline_ = monotonic_now() + kInterval;
    return;
  }
  watch_and_mark();
}

bool LogIndexer::mark() {
  struct stat info;
  disk_was_full_ = disk_was_full_ || is_full(log_fd_);
  if (!index_ || ::fstat(log_fd_, &info) != 0) return false;
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size <= marked_) return false;
  char bytes[kLogMarkBytes];
  // The index promises times that never decrease, whatever is done to the system's clock.
  marked_millis_ = std::max(marked_millis_, wall_now().millis());
  encode_log_mark({size, marked_millis_}, bytes);
  const off_t end = ::lseek(index_.get(), 0, SEEK_END);
  const ssize_t n = ::write(index_.get(), bytes, sizeof bytes);
  if (n != static_cast<ssize_t>(sizeof bytes)) {
    // Never leave half a record: later ones would be read out of step.
    if (n > 0) (void)!::ftruncate(index_.get(), end);
    return false;
  }
  marked_ = size;
  return true;
}

}  // namespace teson
