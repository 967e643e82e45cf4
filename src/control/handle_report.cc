// What an attempt's agent reports, as facts.
#include <utility>

#include "control/handle.h"
#include "control/interrupt.h"
#include "core/lifecycle/retry.h"

namespace teson {
namespace {

AttemptEnd lost_end(const Attempt& attempt, const AttemptLostReport& lost) {
  AttemptEnd end;
  end.cause = EndCause::kLost;
  end.ended = lost.at;
  end.status_reason = host_terminated_text(attempt.instance);
  end.reason = lost.detail;
  if (attempt.started) end.usage.run = lost.at - *attempt.started;
  if (end.usage.run < Duration{}) end.usage.run = {};
  return end;
}

}  // namespace

std::vector<FactBody> handle(const State& state, const AttemptReport& report, Instant now) {
  const Job* job = state.job(report.id.job);
  const Attempt* attempt = job ? live_attempt(*job) : nullptr;
  std::vector<FactBody> facts;
  if (!attempt || attempt->number != report.id.number) return facts;

  if (const auto* started = std::get_if<AttemptStartedReport>(&report.body)) {
    if (!attempt->started) facts.emplace_back(fact::AttemptStarted{report.id, started->at, attempt->log_stream});
    return facts;
  }
  AttemptEnd end;
  if (const auto* ended = std::get_if<AttemptEndedReport>(&report.body)) {
    end = ended->end;
    // A quick program's start may have gone unreported: its log stream must exist all the same.
    if (!attempt->started && end.cause != EndCause::kLaunchFailed) {
      facts.emplace_back(fact::AttemptStarted{report.id, end.ended - end.usage.run, attempt->log_stream});
    }
  } else {
    end = lost_end(*attempt, std::get<AttemptLostReport>(report.body));
  }
  if (end.ended.micros == 0) end.ended = now;
  judge_interrupted(state, *job, *attempt, end);
  Outcome outcome = outcome_of(*job, end);
  if (outcome.verdict == fact::Verdict::kRetry && job->id.is_child()) {
    // A cancelled array leaves what runs, and starts nothing more.
    const Job& array = *state.job(job->id.parent());
    if (array.stop) outcome = {fact::Verdict::kFailed, array.stop->reason};
  }
  facts.emplace_back(fact::AttemptEnded{report.id, std::move(end), outcome.verdict, std::move(outcome.status_reason)});
  return facts;
}

}  // namespace teson
