// How attempts get onto machines. Real (local, Slurm) and simulated launchers pass one contract suite.
//
// Thread: called by the loop's thread only; reports come on any thread through the sink given at construction.
// Never blocks for longer than a process start. Messages may be lost, doubled or late: every call is idempotent, and
// reports may repeat. The attempt's own directory is the truth; settle() reads it.
#pragma once

#include <functional>
#include <span>
#include <variant>
#include <vector>

#include "domain/launch.h"

namespace teson {

using ReportSink = std::function<void(AttemptReport)>;

// What an attempt's directory says (docs/decisions/0004, the reconciliation table).
struct AttemptUnknown {};  // no directory, or the launch never happened: launch again under the same id
struct AttemptAlive {
  std::optional<Instant> started;
};
using AttemptFinding = std::variant<AttemptUnknown, AttemptAlive, AttemptEndedReport, AttemptLostReport>;

class Launcher {
 public:
  virtual ~Launcher() = default;

  // Starts an agent for the attempt. Calling it again for an attempt that was launched does nothing.
  // A failure is reported as an end with EndCause::kLaunchFailed, never thrown or returned. One with `order.after`
  // starts when nothing of that attempt is left (at once if it is not known here), before its end is reported or with
  // it.
  virtual void launch(const LaunchOrder& order) = 0;

  // SIGTERM now, SIGKILL of the whole tree after `grace`. The end arrives as a report. Repeating it changes nothing.
  virtual void stop(const AttemptId& id, Duration grace) = 0;

  // Looks at one attempt and re-adopts it if it is alive: its later reports will come. An attempt whose agent is gone
  // has had its processes killed before AttemptLost is returned.
  virtual AttemptFinding settle(const AttemptId& id) = 0;

  // The end of these attempts is durable: the launcher may forget them and prune by policy.
  virtual void forget(std::span<const AttemptId> ids) = 0;
};

}  // namespace teson
