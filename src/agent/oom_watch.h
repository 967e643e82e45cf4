// When the kernel killed processes of an attempt for memory, and whether the main program was among them: the kernel
// counts the victims but names none. Single-threaded; costs nothing until the first kill.
//
// A main program that is alive and well one look after a kill was not its victim: a SIGKILL that ends it later was
// somebody else's. A kill of one of its processes shortly before it fails by itself is the likely cause of that (a
// wrapper that passes on 137, a trainer whose worker is gone).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "agent/cgroup.h"
#include "agent/clocks.h"

namespace teson {

// The rules, without the kernel.
class OomEvidence {
 public:
  // The kernel's count of victims so far.
  void count(int64_t kills, Duration now);
  // The main program is alive and not dying. True: for the first time since the last kill.
  bool main_lives(Duration now);

  bool explains(int main_wait_status, Duration now) const;
  std::string earlier_kills_text(Duration now) const;
  int64_t kills() const { return kills_; }

 private:
  struct Count {
    int64_t kills = 0;  // so far
    Duration at;
  };
  int64_t kills_ = 0;
  int64_t survived_ = 0;         // of these the main program was none
  std::deque<Count> unsettled_;  // kills after which it was not yet looked at long enough
  Duration last_kill_;
};

class OomWatch {
 public:
  // `cgroup` must outlive it.
  explicit OomWatch(const Cgroup& cgroup) : cgroup_(cgroup), events_(cgroup.open_oom_events()) {}

  // To be watched for `events()`; -1 where the kernel does not tell.
  int fd() const { return events_.fd.get(); }
  short events() const { return events_.poll_events; }
  // Notified, or the deadline came. True: processes were killed, and the main program goes on.
  bool look(pid_t main, Duration now);
  std::optional<Duration> deadline() const { return look_at_; }

  // Whether a main program with this wait status failed `now` for memory.
  bool explains(int main_wait_status, Duration now);
  // "the kernel had killed 2 of its processes for memory, the last one 12 s before"; empty if none was.
  std::string earlier_kills_text(Duration now) const { return evidence_.earlier_kills_text(now); }
  int64_t kills() const { return evidence_.kills(); }

 private:
  const Cgroup& cgroup_;
  OomEvents events_;
  OomEvidence evidence_;
  std::optional<Duration> disturbed_;  // when the kernel last spoke
  std::optional<Duration> look_at_;
};

// In AWS's words first, which rules match on; then the figures, where it was, and what to ask for: half as much again,
// as the peak of a program that was killed at its limit says only that it wanted more.
std::string out_of_memory_text(int64_t limit_mib, int64_t peak_mib);

}  // namespace teson
