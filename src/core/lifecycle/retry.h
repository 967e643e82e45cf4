// What follows the end of an attempt: evaluateOnExit and the attempt budget.
//
// Rules [AWS Batch, RetryStrategy and EvaluateOnExit]: every condition given in an entry must match, the first entry
// that matches decides, no match means retry; attempts left are needed either way. Never retried: a cancelled or
// terminated job, a timed-out attempt.
#pragma once

#include <string>
#include <string_view>

#include "domain/fact.h"
#include "domain/job.h"

namespace teson {

// Literal, but for one trailing '*'.
bool pattern_matches(std::string_view pattern, std::string_view text);

// The action of the first rule that matches this end; kRetry if none does.
RetryAction evaluate_on_exit(const RetryStrategy& strategy, const AttemptEnd& end);

// A lost machine costs no attempt where the job says so, but not without end: a program that takes its agent down
// each time would otherwise run for ever.
inline constexpr int kMaxFreeInterruptions = 1000;

struct Outcome {
  fact::Verdict verdict = fact::Verdict::kFailed;
  std::string status_reason;  // the job's
};
// `end` is the end of the job's live attempt; job.past holds the earlier ones.
Outcome outcome_of(const Job& job, const AttemptEnd& end);

}  // namespace teson
