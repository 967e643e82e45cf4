// What the launcher's source files share and nobody else sees: what it keeps of each attempt.
#pragma once

#include <optional>
#include <string>

#include "adapters/launch_local/clocks.h"
#include "adapters/launch_local/local_launcher.h"
#include "attempt_dir/files.h"

namespace teson {

struct LocalLauncher::Tracked {
  std::optional<LaunchOrder> order;  // held: not yet launched
  Duration retry_at;
  bool watched = false;  // its agent is in processes_; else the sweep watches the lock
  bool started_reported = false;
  FileIdentity lock;                      // of the file that the agent holds
  std::optional<Duration> kill_agent_at;  // a stop was ordered
  bool agent_killed = false;
};

// An end for what never ran.
inline AttemptEnd failed_launch(std::string reason) {
  return {.cause = EndCause::kLaunchFailed,
          .exit_code = std::nullopt,
          .reason = clip(std::move(reason), 255),
          .status_reason = "Task failed to start",
          .ended = launch_wall_now(),
          .usage = {}};
}

}  // namespace teson
