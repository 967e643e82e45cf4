#include "core/lifecycle/retry.h"

#include <gtest/gtest.h>

namespace teson {
namespace {

AttemptEnd exited(int code) {
  AttemptEnd end;
  end.cause = EndCause::kExited;
  end.exit_code = code;
  end.status_reason = "Essential container in task exited";
  return end;
}

AttemptEnd host_lost() {
  AttemptEnd end;
  end.cause = EndCause::kLost;
  end.status_reason = "Host EC2 (instance i-00000000000000001) terminated.";
  return end;
}

Job job_with(int attempts, std::vector<RetryRule> rules = {}) {
  Job job;
  job.spec.retry = {attempts, std::move(rules)};
  return job;
}

void add_past(Job& job, AttemptEnd end) {
  Attempt attempt;
  attempt.number = static_cast<int>(job.past.size()) + 1;
  attempt.end = std::move(end);
  job.past.push_back(std::move(attempt));
}

// The rules of AWS's own example: retry a lost host, exit on all else.
std::vector<RetryRule> host_rules() {
  return {{.on_status_reason = "Host EC2*", .action = RetryAction::kRetry},
          {.on_reason = "*", .action = RetryAction::kExit}};
}

TEST(RetryRules, PatternIsLiteralButForATrailingStar) {
  EXPECT_TRUE(pattern_matches("Host EC2*", "Host EC2 (instance i-1) terminated."));
  EXPECT_TRUE(pattern_matches("*", ""));
  EXPECT_TRUE(pattern_matches("137", "137"));
  EXPECT_FALSE(pattern_matches("137", "1371"));
  EXPECT_FALSE(pattern_matches("host ec2*", "Host EC2 (instance i-1) terminated."));
  EXPECT_FALSE(pattern_matches("13*7", "1337"));
}

TEST(RetryRules, C5aExitRuleEndsAnApplicationFailure) {
  EXPECT_EQ(outcome_of(job_with(3, host_rules()), exited(1)).verdict, fact::Verdict::kFailed);
}

TEST(RetryRules, C5bLostHostIsRetriedAndLaterSuccessWins) {
  Job job = job_with(3, host_rules());
  EXPECT_EQ(outcome_of(job, host_lost()).verdict, fact::Verdict::kRetry);
  add_past(job, host_lost());
  EXPECT_EQ(outcome_of(job, exited(0)).verdict, fact::Verdict::kSucceeded);
}

TEST(RetryRules, C5cUnmatchedAttemptIsRetriedUntilAttemptsAreUsed) {
  Job job = job_with(3, {{.on_status_reason = "Host EC2*", .action = RetryAction::kRetry}});
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(outcome_of(job, exited(1)).verdict, fact::Verdict::kRetry) << i;
    add_past(job, exited(1));
  }
  EXPECT_EQ(outcome_of(job, exited(1)).verdict, fact::Verdict::kFailed);
}

TEST(RetryRules, FirstMatchingRuleDecides) {
  Job job = job_with(10, {{.on_exit_code = "1*", .action = RetryAction::kExit},
                          {.on_exit_code = "13", .action = RetryAction::kRetry}});
  EXPECT_EQ(outcome_of(job, exited(13)).verdict, fact::Verdict::kFailed);
  EXPECT_EQ(outcome_of(job, exited(2)).verdict, fact::Verdict::kRetry);
}

TEST(RetryRules, EveryConditionOfARuleMustMatch) {
  Job job = job_with(10, {{.on_status_reason = "Essential*", .on_exit_code = "2", .action = RetryAction::kExit}});
  EXPECT_EQ(outcome_of(job, exited(1)).verdict, fact::Verdict::kRetry);
  EXPECT_EQ(outcome_of(job, exited(2)).verdict, fact::Verdict::kFailed);
}

TEST(RetryRules, MissingExitCodeMatchesNoExitCodePattern) {
  Job job = job_with(2, {{.on_exit_code = "*", .action = RetryAction::kExit}});
  EXPECT_EQ(outcome_of(job, host_lost()).verdict, fact::Verdict::kRetry);
}

TEST(RetryRules, TimedOutAttemptIsNotRetried) {
  AttemptEnd end = exited(143);
  end.cause = EndCause::kTimedOut;
  EXPECT_EQ(outcome_of(job_with(10), end).verdict, fact::Verdict::kFailed);
}

TEST(RetryRules, StoppedJobIsNotRetriedAndKeepsItsUsersReason) {
  Job job = job_with(10);
  job.stop = StopRequest{StopKind::kTerminate, "enough", {}};
  const Outcome outcome = outcome_of(job, host_lost());
  EXPECT_EQ(outcome.verdict, fact::Verdict::kFailed);
  EXPECT_EQ(outcome.status_reason, "enough");
  EXPECT_EQ(outcome_of(job, exited(0)).verdict, fact::Verdict::kSucceeded);
}

TEST(RetryRules, C7FreeInterruptionsDoNotUseTheApplicationsAttempts) {
  Job job = job_with(2);
  job.spec.interruptions_use_attempts = false;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(outcome_of(job, host_lost()).verdict, fact::Verdict::kRetry) << i;
    add_past(job, host_lost());
  }
  EXPECT_EQ(outcome_of(job, exited(3)).verdict, fact::Verdict::kRetry);
  add_past(job, exited(3));
  EXPECT_EQ(outcome_of(job, exited(3)).verdict, fact::Verdict::kFailed);
}

TEST(RetryRules, FreeInterruptionsEndAfterTheirBound) {
  Job job = job_with(1);
  job.spec.interruptions_use_attempts = false;
  for (int i = 0; i < kMaxFreeInterruptions; ++i) add_past(job, host_lost());
  EXPECT_EQ(outcome_of(job, host_lost()).verdict, fact::Verdict::kFailed);
}

TEST(RetryRules, InterruptionsUseAttemptsAsOnAws) {
  EXPECT_EQ(outcome_of(job_with(1), host_lost()).verdict, fact::Verdict::kFailed);
}

}  // namespace
}  // namespace teson
