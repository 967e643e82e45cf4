#include "core/lifecycle/retry.h"

namespace teson {
namespace {

bool condition_holds(const std::optional<std::string>& pattern, std::string_view text) {
  return !pattern || pattern_matches(*pattern, text);
}

bool is_free_interruption(const Job& job, const AttemptEnd& end) {
  return end.cause == EndCause::kLost && !job.spec.interruptions_use_attempts;
}

}  // namespace

bool pattern_matches(std::string_view pattern, std::string_view text) {
  if (pattern.ends_with('*')) return text.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == text;
}

RetryAction evaluate_on_exit(const RetryStrategy& strategy, const AttemptEnd& end) {
  for (const RetryRule& rule : strategy.rules) {
    // An attempt without an exit code matches no exit code pattern, "*" neither; nor does one whose machine went: what
    // its program said then is kept, but on AWS there is none.
    const bool says_code = end.exit_code && end.cause != EndCause::kLost;
    const bool exit_code_holds =
        !rule.on_exit_code || (says_code && pattern_matches(*rule.on_exit_code, std::to_string(*end.exit_code)));
    if (exit_code_holds && condition_holds(rule.on_reason, end.reason) &&
        condition_holds(rule.on_status_reason, end.status_reason)) {
      return rule.action;
    }
  }
  return RetryAction::kRetry;
}

Outcome outcome_of(const Job& job, const AttemptEnd& end) {
  if (end.cause == EndCause::kExited && end.exit_code == 0) return {fact::Verdict::kSucceeded, end.status_reason};
  if (job.stop) return {fact::Verdict::kFailed, job.stop->reason};
  const Outcome failed{fact::Verdict::kFailed, end.status_reason};
  if (end.cause == EndCause::kTimedOut) return failed;
  if (evaluate_on_exit(job.spec.retry, end) == RetryAction::kExit) return failed;

  int used = 0;
  int free_interruptions = 0;
  const auto count = [&](const AttemptEnd& e) { ++(is_free_interruption(job, e) ? free_interruptions : used); };
  for (const Attempt& attempt : job.past) count(*attempt.end);
  count(end);
  const bool again =
      is_free_interruption(job, end) ? free_interruptions <= kMaxFreeInterruptions : used < job.spec.retry.attempts;
  return again ? Outcome{fact::Verdict::kRetry, end.status_reason} : failed;
}

}  // namespace teson
