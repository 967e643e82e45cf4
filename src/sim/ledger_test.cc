// Each rule of the judge can fail: one batch of facts that breaks it, and the words that it is refused with.
#include "sim/ledger.h"

#include <gtest/gtest.h>

namespace teson::sim {
namespace {

JobId id(uint64_t n) { return JobId{Uuid{0, n}}; }

class LedgerTest : public testing::Test {
 protected:
  LedgerTest() {
    ComputeEnvironment environment;
    environment.name = "e";
    environment.max_vcpus = 8;
    take({fact::EnvironmentPut{environment}, fact::QueuePut{Queue{.name = "q", .environments = {"e"}}},
          fact::InstanceStarted{instance(1, 4000)}});
  }

  static Instance instance(uint64_t n, int64_t milli_vcpus) {
    return {InstanceId{n}, "e", "t", Market::kOnDemand, {milli_vcpus, 8000, 2}, {}, {}};
  }
  static fact::JobSubmitted submit(uint64_t n, int attempts = 1, std::vector<JobId> after = {}) {
    JobSpec spec;
    spec.queue = "q";
    spec.resources = {3000, 1000, 1};
    spec.retry.attempts = attempts;
    spec.depends_on = after;
    return {id(n), spec, after};
  }
  static fact::AttemptPlaced place(uint64_t n, int number, int gpu = 0, uint64_t on = 1) {
    Attempt attempt;
    attempt.number = number;
    attempt.instance = InstanceId{on};
    attempt.environment = "e";
    attempt.allocated = {3000, 1000, 1};
    attempt.gpus = {gpu};
    return {id(n), attempt};
  }
  static fact::AttemptEnded end(uint64_t n, int number, int exit_code, fact::Verdict verdict) {
    AttemptEnd out;
    out.exit_code = exit_code;
    return {{id(n), number}, out, verdict, ""};
  }

  void take(std::vector<FactBody> bodies, const std::vector<Job>& finished = {}) {
    std::vector<Fact> facts;
    for (FactBody& body : bodies) facts.push_back({Instant{1}, std::move(body)});
    ledger_.take(facts, finished);
  }
  std::string refusal(std::vector<FactBody> bodies, const std::vector<Job>& finished = {}) {
    try {
      take(std::move(bodies), finished);
    } catch (const BrokenInvariant& broken) {
      return broken.what;
    }
    return "accepted";
  }
  void refused_with(std::vector<FactBody> bodies, const std::string& words) {
    const std::string said = refusal(std::move(bodies));
    EXPECT_NE(said.find(words), std::string::npos) << "said: " << said;
  }

  Ledger ledger_{Site{.host = {8000, 16'000, 2}}};
};

TEST_F(LedgerTest, AcceptsAnOrdinaryLife) {
  EXPECT_EQ(refusal({submit(1, 2), place(1, 1), fact::AttemptStarted{{id(1), 1}, {}, "s"},
                     end(1, 1, 3, fact::Verdict::kRetry), place(1, 2)}),
            "accepted");
  EXPECT_EQ(ledger_.job_steps(), 5u);
  EXPECT_EQ(ledger_.host_used(), (Resources{3000, 1000, 1}));
}

TEST_F(LedgerTest, RefusesASecondSubmitOfOneId) { refused_with({submit(1), submit(1)}, "submitted twice"); }

TEST_F(LedgerTest, RefusesASecondLiveAttempt) { refused_with({submit(1), place(1, 1), place(1, 2)}, "is STARTING"); }

TEST_F(LedgerTest, RefusesAGapInTheNumbers) { refused_with({submit(1), place(1, 2)}, "begins attempt 2 after 0"); }

TEST_F(LedgerTest, RefusesAGpuGivenTwice) {
  refused_with({fact::InstanceStarted{instance(2, 4000)}, submit(1), submit(2), place(1, 1, 0, 1), place(2, 1, 0, 2)},
               "GPU 0 is given to job");
}

TEST_F(LedgerTest, RefusesAGpuThatTheHostLacks) { refused_with({submit(1), place(1, 1, 2)}, "does not have"); }

TEST_F(LedgerTest, RefusesAnInstanceGivenOutBeyondItsSize) {
  refused_with({submit(1), submit(2), place(1, 1, 0), place(2, 1, 1)}, "beyond its size");
}

TEST_F(LedgerTest, RefusesMoreInstancesThanMaxVcpus) {
  refused_with({fact::InstanceStarted{instance(2, 4000)}, fact::InstanceStarted{instance(3, 1000)}}, "to 9 of 8 vCPUs");
}

TEST_F(LedgerTest, RefusesTheEndOfAnInstanceInUse) {
  refused_with({submit(1), place(1, 1), fact::InstanceEnded{InstanceId{1}, ""}}, "ends under 1 attempts");
}

TEST_F(LedgerTest, RefusesADependentThatStartsTooEarly) {
  refused_with({submit(1), submit(2, 1, {id(1)}), fact::JobReady{id(2)}}, "before its dependency");
}

TEST_F(LedgerTest, RefusesARetryBeyondTheBudget) {
  refused_with({submit(1, 1), place(1, 1), end(1, 1, 3, fact::Verdict::kRetry)}, "the retry rules say");
}

TEST_F(LedgerTest, RefusesAFailureWithAttemptsLeft) {
  refused_with({submit(1, 2), place(1, 1), end(1, 1, 3, fact::Verdict::kFailed)}, "the retry rules say");
}

TEST_F(LedgerTest, RefusesAnEndThatFreesTwice) {
  refused_with({submit(1, 2), place(1, 1), end(1, 1, 3, fact::Verdict::kRetry), end(1, 1, 3, fact::Verdict::kFailed)},
               "is not live");
}

TEST_F(LedgerTest, RefusesAnEndWhileTheProgramRuns) {
  ledger_.ask_world_with([](const AttemptId&) { return true; });
  refused_with({submit(1), place(1, 1), end(1, 1, 0, fact::Verdict::kSucceeded)}, "while its program runs");
}

TEST_F(LedgerTest, RefusesAnyChangeAfterTheEnd) {
  Job job;
  job.id = id(1);
  job.order = 1;
  job.state = job_state::Failed{};
  job.stop = StopRequest{};
  take({submit(1), fact::StopRequested{id(1), {}}, fact::JobFailed{id(1), ""}}, {job});
  refused_with({place(1, 1)}, "has finished");
  refused_with({fact::JobTagged{id(1), {}}}, "has finished");
}

TEST_F(LedgerTest, RefusesAFinishedJobThatIsNotArchived) {
  refused_with({submit(1), fact::StopRequested{id(1), {}}, fact::JobFailed{id(1), ""}},
               "finishes 1 jobs and archives 0");
}

TEST_F(LedgerTest, RefusesAFailureForNoReason) {
  refused_with({submit(1), fact::JobFailed{id(1), ""}}, "without a stop or a failed dependency");
}

TEST_F(LedgerTest, RefusesAStoppedJobThatStillWaits) {
  refused_with({submit(1), fact::StopRequested{id(1), {}}}, "still waits to run");
}

TEST_F(LedgerTest, SeesAJobShownOtherwiseThanItsFacts) {
  take({submit(1)});
  Job job;
  job.id = id(1);
  job.order = 1;
  job.state = job_state::Runnable{};
  ledger_.compare(job);
  job.order = 2;
  EXPECT_THROW(ledger_.compare(job), BrokenInvariant);
  job.order = 1;
  job.state = job_state::Succeeded{};
  EXPECT_THROW(ledger_.compare(job), BrokenInvariant);
}

fact::JobSubmitted asking(fact::JobSubmitted submitted, int64_t quantity) {
  submitted.spec.consumables = {{"licence", quantity}};
  return submitted;
}

TEST_F(LedgerTest, RefusesMoreOfAConsumableResourceThanThereIs) {
  take({fact::ConsumablePut{{"licence", ConsumableKind::kReplenishable, 2, {}, {}, {}}},
        fact::InstanceStarted{instance(2, 4000)}, asking(submit(1), 1), asking(submit(2), 2), place(1, 1)});
  refused_with({place(2, 1, 1, 2)}, "takes consumable resource licence to 3 of 2");
}

TEST_F(LedgerTest, RefusesWhatAnAttemptHasUsedUp) {
  take({fact::ConsumablePut{{"licence", ConsumableKind::kNonReplenishable, 1, {}, {}, {}}}, asking(submit(1, 2), 1),
        place(1, 1), fact::AttemptStarted{{id(1), 1}, {}, "s"}, end(1, 1, 3, fact::Verdict::kRetry)});
  refused_with({place(1, 2)}, "takes consumable resource licence to 1 of 0");
}

TEST_F(LedgerTest, RefusesToDeleteAConsumableResourceThatIsAskedFor) {
  take({fact::ConsumablePut{{"licence", ConsumableKind::kReplenishable, 2, {}, {}, {}}}, asking(submit(1), 1)});
  refused_with({fact::ConsumableDeleted{"licence"}}, "is deleted while job");
}

// On a host of 8 vCPUs spot job 11 holds 6 by instance 5, spot job 12 half a one by instance 6; job 1 asks for 3.
class InterruptionRules : public LedgerTest {
 protected:
  InterruptionRules() {
    ComputeEnvironment spot;
    spot.name = "s";
    spot.market = Market::kSpot;
    spot.max_vcpus = 16;
    take({fact::EnvironmentPut{spot}, fact::QueuePut{Queue{.name = "qs", .environments = {"s"}}}, spot_instance(5),
          spot_instance(6), spot_job(11, 6000), spot_place(11, 6000, 5), spot_job(12, 500), spot_place(12, 500, 6)});
  }
  static fact::InstanceStarted spot_instance(uint64_t n) {
    return {{InstanceId{n}, "s", "t", Market::kSpot, {8000, 8000, 2}, {}, {}}};
  }
  static fact::JobSubmitted spot_job(uint64_t n, int64_t milli_vcpus) {
    JobSpec spec;
    spec.queue = "qs";
    spec.resources = {milli_vcpus, 100, 0};
    spec.retry.attempts = 2;
    return {id(n), spec, {}, {}};
  }
  static fact::AttemptPlaced spot_place(uint64_t n, int64_t milli_vcpus, uint64_t on) {
    Attempt attempt;
    attempt.number = 1;
    attempt.instance = InstanceId{on};
    attempt.environment = "s";
    attempt.allocated = {milli_vcpus, 100, 0};
    return {id(n), attempt};
  }
  static fact::InstanceInterrupted interrupt(uint64_t instance, uint64_t owner) {
    return {InstanceId{instance}, Instant{9}, "interrupted for job", id(owner)};
  }
  static fact::AttemptEnded ends(uint64_t n, EndCause cause) {
    AttemptEnd end;
    end.cause = cause;
    end.status_reason = "Host EC2 (instance i-5) terminated.";
    return {{id(n), 1}, end, fact::Verdict::kRetry, ""};
  }
};

TEST_F(InterruptionRules, AcceptWhatIsNeededAndUsed) {
  EXPECT_EQ(refusal({submit(1), interrupt(5, 1), ends(11, EndCause::kLost), place(1, 1), fact::InstanceEnded{{5}, ""}}),
            "accepted");
}

TEST_F(InterruptionRules, RefuseOnDemandInstances) {
  refused_with({submit(1), ends(11, EndCause::kLost), place(1, 1), submit(2), interrupt(1, 2)}, "on-demand instance");
}

TEST_F(InterruptionRules, RefuseSpotWorkThatInterrupts) {
  refused_with({spot_job(13, 4000), interrupt(5, 13)}, "is not on-demand work");
}

TEST_F(InterruptionRules, RefuseWhatDoesNotSuffice) { refused_with({submit(1), interrupt(6, 1)}, "in vain for job"); }

TEST_F(InterruptionRules, RefuseWhatIsNotNeeded) {
  refused_with({submit(1), interrupt(5, 1), interrupt(6, 1)}, "had room without it");
}

TEST_F(InterruptionRules, RefuseASecondInterruption) {
  refused_with({submit(1), interrupt(5, 1), interrupt(5, 1)}, "interrupted twice");
}

TEST_F(InterruptionRules, RefuseAPlaceOnAnInterruptedInstance) {
  refused_with({submit(1), interrupt(5, 1), spot_job(13, 500), spot_place(13, 500, 5)}, "which is taken back");
}

TEST_F(InterruptionRules, RefuseThatOthersTakeTheRoom) {
  refused_with({submit(1), interrupt(5, 1), ends(11, EndCause::kLost), spot_job(13, 5000), spot_place(13, 5000, 6)},
               "takes the room that was made for job");
}

TEST_F(InterruptionRules, RefuseAPromiseThatIsNotKept) {
  refused_with({submit(1), interrupt(5, 1), ends(11, EndCause::kLost), fact::InstanceEnded{{5}, ""}},
               "which waits all the same");
}

TEST_F(InterruptionRules, RefuseAnInterruptedAttemptThatCountsAsStopped) {
  refused_with({submit(1), interrupt(5, 1), ends(11, EndCause::kStopped)}, "counts as stopped");
}

}  // namespace
}  // namespace teson::sim
