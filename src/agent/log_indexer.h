// Writes stdout.idx: notes the log's size when it has changed, at most every 200 ms. A silent job costs no wake-ups:
// between bursts one inotify event is awaited. Failures (full disk) are left for the next mark to make good.
#pragma once

#include <optional>

#include "agent/clocks.h"
#include "base/owned_fd.h"

namespace teson {

class LogIndexer {
 public:
  // Inside the attempt's directory; `log_fd` must outlive it.
  explicit LogIndexer(int log_fd);

  int notify_fd() const { return notify_.get(); }
  // The log changed, or the deadline came.
  void on_activity();
  // When on_activity() is due again although nothing was notified.
  std::optional<Duration> deadline() const { return deadline_; }
  void finish() { mark(); }
  // Whether a look, this one or an earlier one, found no room on the disk: what the program wrote then may be missing,
  // as its writes failed and only it was told.
  bool disk_was_full() const { return disk_was_full_; }

 private:
  bool mark();
  void watch();
  void watch_and_mark();

  int log_fd_;
  OwnedFd index_;
  OwnedFd notify_;
  uint64_t marked_ = 0;
  int64_t marked_millis_ = 0;
  std::optional<Duration> deadline_;
  bool disk_was_full_ = false;
};

}  // namespace teson
