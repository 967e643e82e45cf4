// One step of the control loop, without a thread or a clock: the same code runs in production and under the fault
// simulator. inputs -> facts -> apply -> decide to a fixed point -> commit -> answers and effects.
//
// Thread: one. Nothing leaves (no answer, no launch) before the journal has committed what it stands on.
// Failure: after a failed commit the state is rebuilt from the journal, exactly as after a crash; commands get
// kUnavailable, and what the launcher reported meanwhile is asked again (Launcher::settle).
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "control/activity.h"
#include "control/commands.h"
#include "control/registry_view.h"
#include "core/explain/explain.h"
#include "core/state/state.h"
#include "domain/launch.h"
#include "ports/journal.h"
#include "ports/launcher.h"

namespace teson {

class Controller;

struct CommandInput {
  Command command;
  CommandReply reply;
};
struct QuestionInput {
  std::function<void(const Controller&)> question;
};
struct HoldInput {
  std::optional<std::string> reason;
};
using Input = std::variant<CommandInput, AttemptReport, QuestionInput, HoldInput>;

class Controller {
 public:
  Controller(Journal& journal, Launcher& launcher, Site site);

  // Loads the journal and settles every attempt that was live. Call once before the first step.
  Status recover(Instant now);

  void step(Instant now, std::span<Input> inputs);

  // When step() should be called again though no input arrives: an idle instance's end, a retry of the journal.
  std::optional<Instant> next_wakeup() const;

  const State& state() const { return state_; }
  // Of the last step: never goes back.
  Instant now() const { return now_; }
  const Activity& activity() const { return activity_; }
  RegistryView& registry() { return registry_; }
  // Why nothing starts now, in words for users; empty while all is well.
  const std::string& trouble() const { return trouble_; }
  // Why this job waits: the trouble that keeps everything from starting, else what the job itself waits for.
  std::string waiting_reason(const Job& job) const;
  // The same with the figures below it; of a job that runs, where and until when.
  Explanation explain(const Job& job) const;

 private:
  struct PendingReply {
    CommandReply reply;
    Result<Accepted> answer;
  };

  Status reload();
  bool make_ready();
  void settle_live_attempts(Instant now);
  void launch_again(std::vector<AttemptId> ids);
  void take(CommandInput& input);
  void take(const AttemptReport& report);
  void decide_all();
  bool commit();
  void carry_out(const Fact& fact);
  void record(FactBody body);
  void refuse_all(std::span<Input> inputs);
  void finish_step(std::span<Input> inputs);
  void answer_questions();

  Journal& journal_;
  Launcher& launcher_;
  Site site_;
  State state_;
  RegistryView registry_;

  Instant clock_now_;  // as given: behind now_ while a clock that was set back has not caught up with the facts
  Instant now_;        // of the facts: never before the last of them
  std::vector<Fact> batch_;
  std::vector<Job> finished_;
  std::vector<PendingReply> replies_;
  std::vector<QuestionInput> questions_;
  std::vector<AttemptId> forgotten_;

  Activity activity_;
  std::optional<std::string> hold_;
  std::string trouble_;
  Instant blocked_until_;
  bool unloaded_ = true;    // the state is not what the journal says: reload before anything else
  bool unsettled_ = false;  // live attempts have not been asked what became of them
};

}  // namespace teson
