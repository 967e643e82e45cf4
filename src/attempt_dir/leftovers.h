// Finding and killing the processes of an attempt: by cgroup, by descent, by the environment marker. Shared by the
// agent (which ends its tree) and by launchers (which clear up after an agent that died).
//
// A process id is never trusted: it is turned into a pidfd, looked at again, and only then signalled.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/owned_fd.h"
#include "base/time.h"

namespace teson {

// Living members of a cgroup directory and those below it (v1 or v2).
std::vector<pid_t> cgroup_members(const std::string& directory);
// Kills all members in one go where the kernel offers it (v2 cgroup.kill), else frozen (v1 freezer), else one by one.
// Killing is not waiting: members may still be dying when it returns.
void kill_cgroup(const std::string& directory);
// Removes the directory and any that the job made below it. False: still in use.
bool remove_cgroup(const std::string& directory);

// Every living process below `ancestor` (not itself). Zombies are passed through, not listed.
std::vector<pid_t> descendants_of(pid_t ancestor);
bool is_descendant(pid_t pid, pid_t ancestor);
// Processes whose initial environment holds exactly this "NAME=value". Only those that this user may inspect.
std::vector<pid_t> processes_with_marker(std::string_view marker);

// By SIGSTOP or the like; not by a debugger.
bool is_suspended(pid_t pid);

// Signals `pid` if `still_right(pid)` holds after it was pinned down. Returns its pidfd; none if it was not the right
// one.
OwnedFd signal_pinned(pid_t pid, int signal, const std::function<bool(pid_t)>& still_right);

// Kills everything in these cgroups and everything with the marker, again and again until nothing is left, and removes
// the cgroups. False when something was still there after `patience` (a process stuck inside the kernel).
bool kill_leftovers(const std::string& marker, const std::vector<std::string>& cgroups, Duration patience);

}  // namespace teson
