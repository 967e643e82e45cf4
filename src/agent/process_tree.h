// All processes of an attempt: started together, told together, and none left behind.
//
// In a pid namespace where the kernel permits (an init of ours is pid 1 there: if the agent dies, however, the kernel
// kills the whole namespace). Else the agent is the subreaper of everything below it. Single-threaded: the caller
// blocks SIGCHLD, watches for it, and calls reap().
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <expected>
#include <optional>

#include "agent/program.h"
#include "base/owned_fd.h"

namespace teson {

class Cgroup;

struct MainEnd {
  int wait_status = 0;
  bool after_terminate = false;  // it ended after the tree had been told to
};

class ProcessTree {
 public:
  // `cgroup` must outlive the tree. `lock_fd` is closed in every process that is forked and not executed.
  ProcessTree(Cgroup& cgroup, int lock_fd, bool want_namespace)
      : cgroup_(cgroup), lock_fd_(lock_fd), want_namespace_(want_namespace) {}

  // Returns once the program is executing, or the reason why it does not.
  std::expected<void, LaunchFailure> start(const Program& program);
  // Messages of the init: watch this too; -1 without a namespace. Not after the hang-up of an init that is leaving:
  // that takes the kernel milliseconds, and a hung-up descriptor is ready all the while.
  int message_fd() const { return hung_up_ ? -1 : link_.get(); }

  // SIGTERM (and SIGCONT, or a stopped process could not heed it) to every process.
  void terminate();
  // SIGKILL to every process. To be repeated until gone(): something may have been forked meanwhile.
  void kill();
  // Collects what has ended. When the main program ends by itself, the rest is killed.
  void reap();

  bool gone() const { return gone_; }
  const std::optional<MainEnd>& main_end() const { return main_end_; }
  pid_t main_pid() const { return main_pid_; }
  bool in_namespace() const { return init_pid_ > 0; }

 private:
  bool start_init(const Program& program, int error_fd, LaunchFailure& failure);
  bool start_directly(const Program& program, int error_fd, LaunchFailure& failure);
  void read_messages();
  void signal_all(int signal);

  Cgroup& cgroup_;
  int lock_fd_;
  bool want_namespace_;
  OwnedFd link_;
  bool hung_up_ = false;
  pid_t init_pid_ = 0;
  pid_t main_pid_ = 0;
  bool terminating_ = false;
  bool killing_ = false;
  bool gone_ = false;
  std::optional<MainEnd> main_end_;
};

// fork() of a sibling: its parent is ours, as is the signal at its end. Fills `process` with its pidfd in the caller
// only. Negative errno on failure.
pid_t fork_sibling(OwnedFd& process);
// fork() with clone3's extras; `cgroup_fd` -1 for none. Negative errno on failure.
pid_t fork_into(uint64_t flags, int cgroup_fd);

}  // namespace teson
