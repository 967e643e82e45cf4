#include "core/explain/explain.h"

#include <fmt/format.h>

#include <optional>

#include "core/explain/shortage.h"
#include "core/explain/waiting.h"
#include "core/explain/words.h"
#include "core/lifecycle/retry.h"
#include "core/state/state.h"

namespace teson {
namespace {

constexpr int kSignalBase = 128;

int64_t mib(int64_t bytes) { return bytes >> 20; }

std::string code_text(const AttemptEnd& end) {
  return end.exit_code ? fmt::format("exit code {}", *end.exit_code) : std::string("no exit code");
}

std::string memory_text(const Usage& usage) {
  if (usage.peak_memory_bytes == 0) return {};
  if (usage.memory_limit_bytes == 0) return fmt::format("peak memory {} MiB", mib(usage.peak_memory_bytes));
  return fmt::format("peak memory {} of {} MiB", mib(usage.peak_memory_bytes), mib(usage.memory_limit_bytes));
}

void append(std::string& text, const std::string& more, const char* between) {
  if (!more.empty()) text += (text.empty() ? "" : between) + more;
}

// The kernel's limit is only blamed where the kernel said so: a 137 alone is somebody's SIGKILL.
std::string why_exited(const AttemptEnd& end) {
  std::string text = "The program ended with " + code_text(end);
  append(text, end.reason, ": ");
  if (end.exit_code && *end.exit_code > kSignalBase && end.reason.empty()) {
    text += fmt::format(" (128 + {}: a signal, if the program did not choose it)", *end.exit_code - kSignalBase);
  }
  append(text, memory_text(end.usage), "; ");
  return text;
}

std::string why_attempt_ended(const Job& job, const AttemptEnd& end) {
  switch (end.cause) {
    case EndCause::kExited:
      return why_exited(end);
    case EndCause::kOutOfMemory:
      return end.reason.empty() ? "Killed by the kernel at its memory limit; " + memory_text(end.usage) : end.reason;
    case EndCause::kStopped: {
      std::string text = "Stopped";
      if (job.stop) text += fmt::format(": {} (asked at {})", job.stop->reason, utc_text(job.stop->at));
      append(text, code_text(end), "; ");
      append(text, end.reason, "; ");
      return text;
    }
    case EndCause::kTimedOut: {
      std::string text = "Its time limit was over";
      if (job.spec.attempt_timeout) text += fmt::format(" ({} an attempt)", span_text(*job.spec.attempt_timeout));
      append(text, code_text(end), "; ");
      append(text, end.reason, "; ");
      return text;
    }
    case EndCause::kLost: {
      const bool taken_back = end.reason.starts_with(kInterrupted);
      std::string text = taken_back ? "Its instance was taken back: " : "Its machine or agent was lost: ";
      text += end.status_reason;
      append(text, end.reason, " ");
      if (taken_back) text += fmt::format(" ({})", code_text(end));
      return text;
    }
    case EndCause::kLaunchFailed: {
      std::string text = "The program never ran: " + end.status_reason;
      append(text, end.reason, ": ");
      return text;
    }
  }
  return {};
}

std::string attempt_line(const Job& job, const Attempt& attempt) {
  std::string text = fmt::format("attempt {}: ", attempt.number);
  if (!attempt.end) return text + "live";
  text += why_attempt_ended(job, *attempt.end);
  const Duration ran = attempt.started ? attempt.end->ended - *attempt.started : Duration{};
  if (attempt.started) text += fmt::format("; ran {} from {}", span_text(ran), utc_text(*attempt.started));
  return text + fmt::format(" on instance {} of '{}'", attempt.instance.text(), attempt.environment);
}

void add_attempts(const Job& job, std::vector<std::string>& lines) {
  constexpr size_t kMost = 50;  // the latest ones
  const size_t first = job.past.size() > kMost ? job.past.size() - kMost : 0;
  if (first > 0) lines.push_back(fmt::format("{} earlier attempts are not shown", first));
  for (size_t i = first; i < job.past.size(); ++i) lines.push_back(attempt_line(job, job.past[i]));
}

// Why there was no further attempt, of a job that failed by its last one.
std::string why_no_retry(const Job& job, const AttemptEnd& end) {
  if (job.stop) return "no retry: it was stopped";
  if (end.cause == EndCause::kTimedOut) return "no retry: an attempt that ran out of time is never retried";
  const bool rules = !job.spec.retry.rules.empty();
  if (rules && evaluate_on_exit(job.spec.retry, end) == RetryAction::kExit) {
    return "no retry: a rule of evaluateOnExit says EXIT for this end";
  }
  return fmt::format("no retry: all attempts are used (retryStrategy.attempts is {})", job.spec.retry.attempts);
}

// What to ask for next time, from what was used: half as much again as the peak, or half as long again as the limit.
// Silent where asking for that would change little. Out of memory says so in its reason already.
std::optional<std::string> advice_for(const Job& job, const Attempt& last) {
  constexpr int64_t kStepMib = 64;
  const AttemptEnd& end = *last.end;
  if (end.cause == EndCause::kTimedOut && job.spec.attempt_timeout) {
    const Duration longer{job.spec.attempt_timeout->micros + job.spec.attempt_timeout->micros / 2};
    return fmt::format("next time: it had {} and was not done; {} gives it half as long again",
                       span_text(*job.spec.attempt_timeout), span_text(longer));
  }
  if (end.cause != EndCause::kExited || end.exit_code != 0 || end.usage.peak_memory_bytes == 0) return std::nullopt;
  const int64_t peak = mib(end.usage.peak_memory_bytes) + 1;
  const int64_t enough = (peak + peak / 2 + kStepMib - 1) / kStepMib * kStepMib;
  const int64_t asked = last.allocated.memory_mib;
  if (enough * 2 > asked) return std::nullopt;
  return fmt::format("next time: {} MiB of memory would do (peak {} of {} MiB asked)", enough, peak, asked);
}

std::string why_failed_without_attempt(const Job& job) {
  if (job.stop) {
    return fmt::format("Stopped {}: {}",
                       job.past.empty() ? "before it started" : "while it waited for its next attempt",
                       job.stop->reason);
  }
  return job.status_reason.empty() ? "Failed before it started" : job.status_reason;
}

Explanation explain_array_end(const Job& array) {
  const StatusSummary sum = summary_of(*array.array);
  Explanation out;
  out.sentence =
      fmt::format("{} of {} children succeeded, {} failed", sum.succeeded, sum.succeeded + sum.failed, sum.failed);
  if (array.stop) out.sentence += ": " + array.stop->reason;
  constexpr size_t kMost = 10;
  for (const ChildrenFailure& failure : array.array->failures) {
    if (out.lines.size() == kMost) break;
    out.lines.push_back(
        fmt::format("children {} to {} never started: {}", failure.first, failure.last, failure.reason));
  }
  const size_t first_failed = array.array->children.find(child::kFailed);
  if (first_failed != std::string::npos) {
    out.lines.push_back(fmt::format("the first of them: teson explain {}:{}", array.id.text(), first_failed));
  }
  return out;
}

Explanation explain_running(const State& state, const Job& job, const Attempt& attempt) {
  Explanation out;
  if (attempt.behind) {
    out.sentence = fmt::format("Starts when {} ends, whose place it takes over", attempt.behind->job.text());
  } else if (!attempt.started) {
    out.sentence = "Is being started since " + utc_text(attempt.placed);
  } else {
    out.sentence = fmt::format("Runs since {}", utc_text(*attempt.started));
    const auto latest = ends_by(job, attempt);
    out.sentence += latest ? ", until " + utc_text(*latest) + " at the latest" : ", without a time limit";
  }
  if (job.stop) out.sentence += fmt::format("; is being stopped: {}", job.stop->reason);
  if (const auto& taken = state.instances().at(attempt.instance).value.interruption; taken && !job.stop) {
    out.sentence += fmt::format("; is being {}, killed at {} if it has not ended by then", taken->reason,
                                utc_text(taken->at + job.spec.grace));
  }
  out.lines.push_back(fmt::format("attempt {} holds {} on instance {} of compute environment '{}'", attempt.number,
                                  resources_text(attempt.allocated), attempt.instance.text(), attempt.environment));
  if (const auto behind = state.follower_of(job.id)) {
    out.lines.push_back(fmt::format("{} takes over its place", behind->text()));
  }
  return out;
}

}  // namespace

Explanation explain_live(const State& state, const Job& job) {
  const Attempt* live = live_attempt(job);
  Explanation out = live ? explain_running(state, job, *live) : explain_waiting(state, job);
  if (out.sentence.empty()) out.sentence = "Nothing keeps it: it is about to move on";
  if (!live) out.sentence = clipped(out.sentence, kLongestReason);
  add_attempts(job, out.lines);
  return out;
}

Explanation explain_end(const Job& job) {
  if (job.array) return explain_array_end(job);
  Explanation out;
  const bool succeeded = std::holds_alternative<job_state::Succeeded>(job.state);
  const AttemptEnd* last = job.past.empty() || !job.past.back().end ? nullptr : &*job.past.back().end;
  // One that was stopped between two attempts did not end by the last of them.
  const bool by_attempt = last && (!job.stop || job.stop->at <= last->ended);
  if (succeeded) {
    out.sentence = fmt::format("Succeeded at attempt {}: exit code 0", job.past.size());
  } else if (by_attempt) {
    out.sentence = why_attempt_ended(job, *last);
    out.lines.push_back(why_no_retry(job, *last));
  } else {
    out.sentence = why_failed_without_attempt(job);
  }
  if (last && (succeeded || by_attempt)) {
    if (auto advice = advice_for(job, job.past.back())) out.lines.push_back(std::move(*advice));
  }
  if (job.status_reason.starts_with(kDependentFailed)) {
    const std::string id = job.status_reason.substr(kDependentFailed.size(), JobId{}.text().size());
    out.lines.push_back("what ended that one: teson explain " + id);
  }
  add_attempts(job, out.lines);
  return out;
}

}  // namespace teson
