// Starting a detached process cheaply from a large, threaded one.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"

namespace teson {

struct Spawned {
  pid_t pid = 0;
  OwnedFd process;  // pidfd
};

// The descriptor number that the child finds `inherited` at.
inline constexpr int kInheritedFd = 3;

// The program to run for agents, at a number that spawn_detached() does not use: `image` in memory, sealed, if there is
// one and the system executes such files (vm.memfd_noexec may forbid it); else the file `path`.
Result<OwnedFd> open_agent_program(const std::string& path, std::span<const unsigned char> image);

// Runs `program` in its own session with standard streams on /dev/null, default signals, and `inherited` at descriptor
// 3, nothing else. kUnavailable: no process or memory to be had right now.
Result<Spawned> spawn_detached(const std::string& program, const std::vector<std::string>& arguments, int inherited);

}  // namespace teson
