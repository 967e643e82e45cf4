#include "agent/oom_watch.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>

#include "attempt_dir/files.h"

namespace teson {
namespace {

// v1 notifies before it kills, and a victim with much memory takes a while to die.
constexpr Duration kLookAgain = Duration::millis(5);
constexpr Duration kLookClosely = Duration::millis(100);
constexpr Duration kLookLater = Duration::millis(50);
constexpr Duration kRestless = Duration::seconds(1);
// How long after one of its processes was killed a failure of the main program is laid to that. torchrun gives the
// other workers up to 30 s to end before it fails.
constexpr Duration kLikelyCause = Duration::seconds(35);

// proc(5): dead, dying (PF_EXITING), or with a SIGKILL on its way.
bool is_doomed(pid_t pid) {
  const std::string directory = "/proc/" + std::to_string(pid);
  const auto stat = read_file(directory + "/stat", 8192);
  const auto status = read_file(directory + "/status", 65536);
  if (!stat || !status) return true;
  // After the name: state ppid pgrp session tty tpgid flags.
  const size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= stat->size()) return true;
  size_t at = name_end + 2;
  const char state = (*stat)[at];
  for (int field = 0; field < 6 && at != std::string::npos; ++field) at = stat->find(' ', at + 1);
  if (at == std::string::npos) return true;
  constexpr unsigned long kExiting = 0x4;
  const unsigned long flags = std::strtoul(stat->c_str() + at, nullptr, 10);
  if (state == 'Z' || state == 'X' || (flags & kExiting) != 0) return true;
  for (const char* field : {"SigPnd:\t", "ShdPnd:\t"}) {
    const size_t found = status->find(field);
    if (found == std::string::npos) continue;
    const unsigned long long pending = std::strtoull(status->c_str() + found + 8, nullptr, 16);
    if ((pending >> (SIGKILL - 1)) & 1) return true;
  }
  return false;
}

}  // namespace

void OomEvidence::count(int64_t kills, Duration now) {
  if (kills <= kills_) return;
  kills_ = kills;
  last_kill_ = now;
  unsettled_.push_back({kills, now});
}

bool OomEvidence::main_lives(Duration now) {
  bool outlived = false;
  for (; !unsettled_.empty() && unsettled_.front().at + kLookAgain <= now; unsettled_.pop_front()) {
    survived_ = unsettled_.front().kills;
    outlived = true;
  }
  return outlived;
}

bool OomEvidence::explains(int main_wait_status, Duration now) const {
  if (kills_ == 0) return false;
  if (WIFSIGNALED(main_wait_status) && WTERMSIG(main_wait_status) == SIGKILL) return survived_ < kills_;
  // By its own decision. Another signal has another cause.
  const bool gave_up =
      WIFEXITED(main_wait_status) ? WEXITSTATUS(main_wait_status) != 0 : WTERMSIG(main_wait_status) == SIGABRT;
  return gave_up && now - last_kill_ <= kLikelyCause;
}

std::string OomEvidence::earlier_kills_text(Duration now) const {
  if (kills_ == 0) return {};
  return fmt::format("the kernel had killed {} of its processes for memory, the last one {} s before", kills_,
                     (now - last_kill_).whole_seconds());
}

bool OomWatch::look(pid_t main, Duration now) {
  const int64_t known = evidence_.kills();
  const bool notified = events_.drain();
  evidence_.count(cgroup_.oom_kills(), now);
  if (notified || evidence_.kills() > known) disturbed_ = now;
  look_at_.reset();
  if (disturbed_ && now < *disturbed_ + kRestless) {
    look_at_ = now + (now < *disturbed_ + kLookClosely ? kLookAgain : kLookLater);
  }
  return !is_doomed(main) && evidence_.main_lives(now);
}

bool OomWatch::explains(int main_wait_status, Duration now) {
  evidence_.count(cgroup_.oom_kills(), now);
  return evidence_.explains(main_wait_status, now);
}

std::string out_of_memory_text(int64_t limit_mib, int64_t peak_mib) {
  char host[65] = "?";
  if (::gethostname(host, sizeof host - 1) != 0) host[0] = '?';
  return fmt::format(
      "OutOfMemoryError: Container killed due to memory usage (limit {} MiB, peak {} MiB, host {}); next time ask for "
      "{} MiB",
      limit_mib, peak_mib, host, limit_mib + limit_mib / 2);
}

}  // namespace teson
