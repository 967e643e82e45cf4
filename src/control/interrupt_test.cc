#include "control/interrupt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include "control/controller.h"

namespace teson {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Instant kStart{1'000'000'000};
constexpr InstanceId kSpot{7}, kOnDemand{8};

JobId id(uint64_t n) { return JobId{Uuid{0, n}}; }

class KeptJournal final : public Journal {
 public:
  Status append(std::span<const Fact> batch, std::span<const Job>) override {
    facts.insert(facts.end(), batch.begin(), batch.end());
    return {};
  }
  Result<JournalContents> load() override { return JournalContents{{}, 0, facts}; }
  std::vector<Fact> facts;
};

class NotedLauncher final : public Launcher {
 public:
  void launch(const LaunchOrder&) override {}
  void stop(const AttemptId& attempt, Duration grace) override { stops.emplace_back(attempt, grace); }
  AttemptFinding settle(const AttemptId&) override { return AttemptAlive{}; }
  void forget(std::span<const AttemptId>) override {}
  std::vector<std::pair<AttemptId, Duration>> stops;
};

// Job 1 (ana's) and job 2 (ben's) run on one spot instance, job 3 (ana's) on an on-demand one.
class InterruptTest : public testing::Test {
 protected:
  InterruptTest() {
    spdlog::set_level(spdlog::level::off);
    put("spot", Market::kSpot, kSpot);
    put("od", Market::kOnDemand, kOnDemand);
    start(1, "ana", "spot", kSpot);
    start(2, "ben", "spot", kSpot);
    start(3, "ana", "od", kOnDemand);
    EXPECT_TRUE(controller_.recover(kStart).has_value());
  }

  void fact(FactBody body) { journal_.facts.push_back({kStart, std::move(body)}); }
  void put(const std::string& name, Market market, InstanceId instance) {
    ComputeEnvironment environment;
    environment.name = name;
    environment.market = market;
    environment.max_vcpus = 2;
    environment.instance_types = {{"host", {2000, 8000, 0}, {}, {}}};
    fact(fact::EnvironmentPut{environment});
    fact(fact::QueuePut{Queue{.name = name, .environments = {name}}});
    fact(fact::InstanceStarted{{instance, name, "host", market, {2000, 8000, 0}, {}, kStart}});
  }
  void start(uint64_t n, const std::string& owner, const std::string& environment, InstanceId instance) {
    JobSpec spec;
    spec.name = "train";
    spec.queue = environment;
    spec.image = "host";
    spec.resources = {1000, 100, 0};
    spec.owner = owner;
    spec.grace = Duration::seconds(30);
    spec.retry.attempts = 2;
    fact(fact::JobSubmitted{id(n), spec, {}, {}});
    Attempt attempt;
    attempt.number = 1;
    attempt.instance = instance;
    attempt.environment = environment;
    attempt.allocated = spec.resources;
    fact(fact::AttemptPlaced{id(n), attempt});
    fact(fact::AttemptStarted{{id(n), 1}, kStart, "stream"});
  }

  std::string interrupt(std::variant<JobId, InstanceId> what, const Caller& by, bool force = false) {
    std::string answer = "none";
    std::vector<Input> batch;
    batch.emplace_back(CommandInput{command::Interrupt{what, force, "a drill", by},
                                    [&](Result<Accepted> r) { answer = r ? "ok" : r.error().message; }});
    controller_.step(kStart, batch);
    return answer;
  }
  // What became of attempt 1 of job n.
  const Attempt& end(uint64_t n, EndCause cause, std::optional<int> exit_code) {
    AttemptEnd end;
    end.cause = cause;
    end.exit_code = exit_code;
    end.reason = "as it ended";
    end.status_reason = "Essential container in task exited";
    end.ended = kStart + Duration::seconds(3);
    std::vector<Input> batch;
    batch.emplace_back(AttemptReport{{id(n), 1}, AttemptEndedReport{end}});
    controller_.step(kStart + Duration::seconds(3), batch);
    for (const Fact& fact : journal_.facts) {
      const auto* ended = std::get_if<fact::AttemptEnded>(&fact.body);
      if (!ended || ended->id != AttemptId{id(n), 1}) continue;
      ended_.end = ended->end;
      verdict_ = ended->verdict;
    }
    return ended_;
  }

  KeptJournal journal_;
  NotedLauncher launcher_;
  Controller controller_{journal_, launcher_, Site{.host = {4000, 8000, 0}}};
  const Caller admin_{"root", Role::kAdmin}, ana_{"ana", Role::kUser};
  Attempt ended_;
  fact::Verdict verdict_{};
};

TEST_F(InterruptTest, AllThatRunsOnTheInstanceIsStoppedAndEndsAsLost) {
  ASSERT_EQ(interrupt(id(1), admin_), "ok");
  EXPECT_THAT(launcher_.stops, ElementsAre(std::pair(AttemptId{id(1), 1}, Duration::seconds(30)),
                                           std::pair(AttemptId{id(2), 1}, Duration::seconds(30))));
  const AttemptEnd& end = *this->end(1, EndCause::kStopped, 143).end;
  EXPECT_EQ(end.cause, EndCause::kLost);
  EXPECT_EQ(end.exit_code, 143);
  EXPECT_EQ(end.status_reason, "Host EC2 (instance i-00000000000000007) terminated.");
  EXPECT_EQ(end.reason, "interrupted by root: a drill; as it ended");
  EXPECT_EQ(verdict_, fact::Verdict::kRetry);
  EXPECT_TRUE(controller_.state().instances().contains(kSpot));
  this->end(2, EndCause::kStopped, std::nullopt);
  EXPECT_FALSE(controller_.state().instances().contains(kSpot)) << "it ends with its last attempt";
}

TEST_F(InterruptTest, WhoEndsWithZeroWithinTheGraceHasSucceeded) {
  ASSERT_EQ(interrupt(kSpot, admin_), "ok");
  EXPECT_EQ(end(1, EndCause::kStopped, 0).end->cause, EndCause::kExited);
  EXPECT_EQ(verdict_, fact::Verdict::kSucceeded);
}

TEST_F(InterruptTest, WhatFailedByItselfHasFailed) {
  ASSERT_EQ(interrupt(kSpot, admin_), "ok");
  EXPECT_EQ(end(1, EndCause::kExited, 3).end->cause, EndCause::kExited);
  EXPECT_EQ(end(2, EndCause::kOutOfMemory, 137).end->cause, EndCause::kOutOfMemory);
}

TEST_F(InterruptTest, AUsersStopGoesFirst) {
  ASSERT_EQ(interrupt(kSpot, admin_), "ok");
  std::vector<Input> batch;
  batch.emplace_back(CommandInput{command::StopJob{id(1), StopKind::kTerminate, "enough", admin_}, [](auto) {}});
  controller_.step(kStart, batch);
  EXPECT_EQ(end(1, EndCause::kStopped, 143).end->cause, EndCause::kStopped);
  EXPECT_EQ(verdict_, fact::Verdict::kFailed);
}

TEST_F(InterruptTest, ASecondInterruptionChangesNothing) {
  ASSERT_EQ(interrupt(kSpot, admin_), "ok");
  const size_t facts = journal_.facts.size();
  EXPECT_EQ(interrupt(id(2), admin_), "ok");
  EXPECT_EQ(journal_.facts.size(), facts);
}

TEST_F(InterruptTest, EverythingThatItHitsMustBeTheUsersOwn) {
  EXPECT_THAT(interrupt(id(1), ana_), HasSubstr("teson:Interrupt on resource: job/" + id(2).text()));
  EXPECT_EQ(interrupt(id(3), ana_, true), "ok");
}

TEST_F(InterruptTest, OnDemandWorkOnlyByForce) {
  EXPECT_THAT(interrupt(id(3), admin_), HasSubstr("is on-demand, and only spot work is preemptible: with --force"));
  EXPECT_EQ(interrupt(id(3), admin_, true), "ok");
}

TEST_F(InterruptTest, WhatIsNotThereIsNamed) {
  EXPECT_EQ(interrupt(id(9), admin_), "Job '" + id(9).text() + "' is not live");
  EXPECT_EQ(interrupt(InstanceId{9}, admin_), "Instance 'i-00000000000000009' does not exist");
}

// kill -9 at any moment: what was promised to the attempt is promised still, and not more.
TEST_F(InterruptTest, ARestartSendsTheStopAgainWithWhatIsLeftOfTheGrace) {
  ASSERT_EQ(interrupt(id(1), admin_), "ok");
  for (const auto& [later, left] : {std::pair(10, 20), std::pair(50, 0), std::pair(-5, 30)}) {
    NotedLauncher launcher;
    Controller restarted(journal_, launcher, Site{.host = {4000, 8000, 0}});
    ASSERT_TRUE(restarted.recover(kStart + Duration::seconds(later)).has_value());
    EXPECT_THAT(launcher.stops, ElementsAre(std::pair(AttemptId{id(1), 1}, Duration::seconds(left)),
                                            std::pair(AttemptId{id(2), 1}, Duration::seconds(left))));
  }
}

}  // namespace
}  // namespace teson
