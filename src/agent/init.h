// Pid 1 of an attempt's pid namespace: starts the program, reaps, passes on what the agent says, dies with the agent.
#pragma once

#include "agent/program.h"

namespace teson {

// Both directions, over a SOCK_SEQPACKET pair.
struct InitMessage {
  enum Kind : int {
    kStarted,      // to the agent: the program was forked
    kNoNamespace,  // to the agent: /proc could not be mounted, `value` is errno
    kCannotFork,   // to the agent: `value` is errno
    kMainEnded,    // to the agent: `value` is its wait status
    kTerminate,    // to the init: SIGTERM to all, then wait for all
    kKill,         // to the init: SIGKILL to all
  };
  Kind kind = kStarted;
  int value = 0;
  bool after_terminate = false;
};

// Called in the new process. `link` is its end of the pair; `cgroup_fd` a v2 group for the program, or -1.
[[noreturn]] void run_init(int link, const Program& program, int cgroup_fd, int error_fd);

}  // namespace teson
