// Control groups of an attempt: limits for memory, CPU and process count, the kernel's word about OOM, and killing.
//
// Every kernel arrangement is met as found: v2 controllers, v1 controllers, both mixed, or none. Groups are made below
// the agent's own position, as "teson/<job>-<n>"; in v2, where a group with processes may have no controlled children,
// below the nearest ancestor that permits it. What is not permitted is left out and said in note(): a missing limit is
// no reason not to run. Single-threaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "domain/resources.h"

namespace teson {

enum class CgroupChoice { kAll, kNone, kV1Only, kV2Only };
// Reads where control groups are mounted, if that may have changed since the last call: for a process that forks
// agents.
void remember_cgroup_mounts();
// TESON_AGENT_CGROUP = none | v1 | v2; absent: all that works.
CgroupChoice cgroup_choice_from_environment();

// The kernel's word that a group ran out of memory, as something to poll.
struct OomEvents {
  OwnedFd fd;  // -1: the kernel does not tell
  short poll_events = 0;
  // Makes it quiet until the next event; false: there was none.
  bool drain();
};

class Cgroup {
 public:
  // Never fails: see note().
  static Cgroup create(const std::string& name, const Resources& limits, CgroupChoice choice);

  const std::vector<std::string>& directories() const { return directories_; }
  // v2: the group to clone into; -1: none.
  int clone_fd() const { return clone_fd_.get(); }
  // v1: "tasks" files that the program joins by writing "0".
  std::vector<int> task_fds() const;

  // 0: no limit is in force.
  int64_t memory_limit_bytes() const { return memory_limit_bytes_; }
  // nullopt: the kernel does not tell.
  std::optional<int64_t> peak_memory_bytes() const;
  // How many processes of the group the kernel killed for memory.
  int64_t oom_kills() const;
  OomEvents open_oom_events() const;

  void kill_all() const;
  // False: a process is still in it.
  bool remove() const;

  bool has_memory() const { return memory_ != Kind::kNone; }
  bool has_cpu() const { return has_cpu_; }
  bool has_pids() const { return has_pids_; }
  bool can_kill() const { return can_kill_; }
  const std::string& note() const { return note_; }

 private:
  enum class Kind { kNone, kV1, kV2 };
  friend class CgroupBuilder;

  std::vector<std::string> directories_;
  OwnedFd clone_fd_;
  std::vector<OwnedFd> tasks_;
  Kind memory_ = Kind::kNone;
  std::string memory_directory_;
  int64_t memory_limit_bytes_ = 0;
  bool has_cpu_ = false;
  bool has_pids_ = false;
  bool can_kill_ = false;
  std::string note_;
};

// What this process would get, found out by making a group and removing it again. For `teson doctor`.
struct CgroupReport {
  bool memory = false;
  bool cpu = false;
  bool pids = false;
  bool kill = false;
  std::vector<std::string> directories;  // where groups are made
  std::string note;                      // what is missing and why; empty if nothing
};
CgroupReport describe_cgroups();

// runc's mapping of v1 shares to a v2 weight, so that both kernels divide a CPU alike.
int64_t cpu_weight_from_shares(int64_t shares);

}  // namespace teson
