// The lock: "this attempt's agent lives". Truth is the flock, never the pid: a zombie or a reused pid holds nothing.
//
// The launcher opens and locks the file before it spawns the agent, which inherits the descriptor: there is no moment
// at which a launched agent is unlocked. The record inside says who it is; an empty file: no agent has begun yet, so no
// program was ever started (an agent starts nothing before its record is written).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"

namespace teson {

struct LockRecord {
  pid_t pid = 0;
  uint64_t start_ticks = 0;  // of the agent, since boot: field 22 of /proc/PID/stat
  std::string boot_id;
  std::vector<std::string> cgroups;  // directories that hold the attempt's processes

  bool operator==(const LockRecord&) const = default;
};

// Opens (and creates, unless `must_exist`) without locking.
Result<OwnedFd> open_lock(const std::string& path, bool must_exist);
// False: somebody else holds it.
bool try_lock(const OwnedFd& lock);

// Which file it is, whatever it is called: a job may put another one in its lock's place.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;  // 0: none

  bool operator==(const FileIdentity&) const = default;
};
FileIdentity identity_of(int fd);
FileIdentity identity_at(const std::string& path);  // links are not followed

Status write_lock_record(int lock_fd, const LockRecord& record);
// nullopt: empty or not yet whole.
std::optional<LockRecord> read_lock_record(int lock_fd);

// Read once in a process. Any thread.
const std::string& current_boot_id();
// nullopt: no such process. A zombie still has its start time.
std::optional<uint64_t> process_start_ticks(pid_t pid);
// The process that the record names, if it still is that process. Empty descriptor otherwise.
OwnedFd open_agent(const LockRecord& record);

}  // namespace teson
