// The launcher's side of the nursery (agent/nursery.h): has agents forked, and starts the nursery again when it dies.
//
// Owned by the launcher and used with its mutex held. Blocks for as long as a fork takes; a nursery that does not
// answer within seconds is killed. Failure: see Miss; the launcher then spawns the agent itself.
#pragma once

#include <expected>
#include <string>

#include "adapters/launch_local/spawn.h"
#include "base/time.h"

namespace teson {

class NurseryClient {
 public:
  enum class Miss {
    kNone,      // there is no nursery now: nothing was forked
    kNoMemory,  // no process or memory to be had right now: nothing was forked
    kUnknown,   // it died or fell silent in the middle, and is gone now: the lock tells whether an agent lives
  };

  // `program` is the path of the agent's program. Agents can show directories as long as `longest_directory`.
  NurseryClient(std::string program, size_t longest_directory, Duration patience);
  // The nursery is gone on return; agents carry on.
  ~NurseryClient() { end(); }
  NurseryClient(const NurseryClient&) = delete;
  NurseryClient& operator=(const NurseryClient&) = delete;

  // An agent for `directory`, which has the lock; `lock` stays the caller's.
  std::expected<Spawned, Miss> fork_agent(const std::string& directory, int lock);

 private:
  bool start();
  void end();
  std::expected<Spawned, Miss> fail(Miss miss);

  const std::string program_;
  const std::string title_room_;
  const Duration patience_;
  OwnedFd link_;
  Spawned nursery_;
  int failures_ = 0;   // since an agent was last forked
  Duration retry_at_;  // not before, by the monotonic clock
};

}  // namespace teson
