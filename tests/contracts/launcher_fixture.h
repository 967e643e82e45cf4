// The world that the launcher contract suite (launcher_contract.h) is run in.
#pragma once

#include <functional>
#include <vector>

#include "ports/launcher.h"

namespace teson {

// What the program of an order is to do; a fixture turns it into a command or a scripted workload.
enum class ProgramKind {
  kSucceeds,       // exits 0 at once
  kFailsWith3,     // exits 3 at once
  kRunsForAnHour,  // heeds SIGTERM
  kIgnoresTerm,    // runs for an hour, only SIGKILL ends it
  kAbsent,         // there is no such program
};

class LauncherFixture {
 public:
  virtual ~LauncherFixture() = default;
  virtual Launcher& launcher() = 0;
  // A complete order for a new attempt.
  virtual LaunchOrder order(ProgramKind kind) = 0;
  // Whether the program has come so far that it behaves as its kind says: a started one may not yet ignore signals.
  virtual bool is_ready(const AttemptId& /*id*/) { return true; }
  // All reports so far, oldest first.
  virtual std::vector<AttemptReport> reports() = 0;
  // Lets time pass until the condition holds; false after a deadline of the fixture's choosing (10 s or more of it).
  virtual bool run_until(const std::function<bool()>& condition) = 0;
  // The launcher dies and another takes its place; attempts carry on.
  virtual void restart_launcher() = 0;
  // The attempt's agent dies without a word.
  virtual void kill_agent(const AttemptId& id) = 0;
};

}  // namespace teson
