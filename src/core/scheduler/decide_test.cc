#include "core/scheduler/decide.h"

#include <gtest/gtest.h>

#include "core/explain/waiting.h"
#include "core/scheduler/world_testing.h"
#include "core/state/state.h"

namespace teson {
namespace {

TEST(Placement, StartsAnInstanceThenPlacesTheJobOnIt) {
  World world(kHost);
  world.environment("local", {type("host", kHost)}, 4);
  world.queue("default", {"local"});
  const JobId id = world.submit("default", {1000, 512, 0});
  const auto decisions = world.decide();
  ASSERT_EQ(decisions.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<fact::InstanceStarted>(decisions[0]));
  EXPECT_TRUE(std::holds_alternative<fact::AttemptPlaced>(decisions[1]));
  EXPECT_EQ(world.status(id), "STARTING");
  EXPECT_EQ(world.attempt(id).number, 1);
  EXPECT_EQ(world.state.host_free(), (Resources{3000, 7488, 2}));
}

TEST(Placement, AnInstanceTypeLargerThanTheHostIsTheHost) {
  World world(kHost);
  world.environment("big", {type("m5.24xlarge", {96'000, 393'216, 0})}, 256);
  world.queue("q", {"big"});
  world.submit("q", {4000, 8000, 0});
  world.decide();
  ASSERT_EQ(world.state.instances().size(), 1u);
  EXPECT_EQ(world.state.instances().begin()->second.value.size, (Resources{4000, 8000, 0}));
}

TEST(Placement, TheHostBoundsOverlappingEnvironments) {
  World world(kHost);
  world.environment("local", {type("host", kHost)}, 4);
  world.environment("local-spot", {type("host", kHost)}, 4);
  world.queue("default", {"local"});
  world.queue("spot", {"local-spot"});
  const JobId first = world.submit("default", {3000, 100, 0});
  const JobId second = world.submit("spot", {2000, 100, 0});
  world.decide();
  EXPECT_EQ(world.status(first), "STARTING");
  EXPECT_EQ(world.status(second), "RUNNABLE");
  world.end(first, fact::Verdict::kSucceeded);
  world.decide();
  EXPECT_EQ(world.status(second), "STARTING");
}

TEST(Placement, MaxVcpusBoundsTheInstancesOfAnEnvironment) {
  World world(kHost);
  world.environment("small", {type("c5.large", {2000, 4000, 0})}, 2);
  world.queue("q", {"small"});
  const JobId first = world.submit("q", {2000, 100, 0});
  const JobId second = world.submit("q", {2000, 100, 0});
  world.decide();
  EXPECT_EQ(world.status(first), "STARTING");
  EXPECT_EQ(world.status(second), "RUNNABLE");
  EXPECT_EQ(world.state.instances().size(), 1u);
  EXPECT_EQ(waiting_reason(world.state, *world.state.job(second)),
            "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - first of 1 in queue 'q': maxvCpus of compute environment "
            "'small' is 2, "
            "2 in use; a new c5.large needs 2; held by 00000000 (job1, 2 vCPU)");
}

TEST(Placement, ALoweredMaxVcpusIsReachedThoughJobsKeepComing) {
  World world(kHost);
  world.environment("e", {type("m5.large", {2000, 4000, 0})}, 4);
  world.queue("q", {"e"});
  std::vector<JobId> running;
  for (int i = 0; i < 4; ++i) running.push_back(world.submit("q", {1000, 100, 0}));  // two and two
  world.decide();
  world.environment("e", {type("m5.large", {2000, 4000, 0})}, 2);
  const JobId next = world.submit("q", {1000, 100, 0});
  world.end(running[0], fact::Verdict::kSucceeded);
  world.decide();
  EXPECT_EQ(world.status(next), "RUNNABLE") << "four vCPUs would stay busy";
  EXPECT_EQ(world.status(running[1]), "STARTING");
  world.end(running[1], fact::Verdict::kSucceeded);
  world.end(running[2], fact::Verdict::kSucceeded);
  world.decide();
  EXPECT_EQ(world.status(next), "STARTING");
  EXPECT_EQ(live_attempt(*world.state.job(next))->instance, live_attempt(*world.state.job(running[3]))->instance);
  const JobId last = world.submit("q", {1000, 100, 0});
  world.decide();
  EXPECT_EQ(world.status(last), "RUNNABLE") << "on the idle instance it would be beyond maxvCpus";
}

TEST(Placement, SecondEnvironmentTakesWhatTheFirstCannot) {
  World world(kHost);
  world.environment("first", {type("c5.large", {2000, 4000, 0})}, 2);
  world.environment("second", {type("c5.large", {2000, 4000, 0})}, 2);
  world.queue("q", {"first", "second"});
  const JobId a = world.submit("q", {2000, 100, 0});
  const JobId b = world.submit("q", {2000, 100, 0});
  world.decide();
  EXPECT_EQ(world.attempt(a).environment, "first");
  EXPECT_EQ(world.attempt(b).environment, "second");
}

TEST(Placement, GpusAreHandedOutOnceAndComeBack) {
  World world(kHost);
  world.environment("local", {type("host", kHost)}, 4);
  world.queue("default", {"local"});
  const JobId a = world.submit("default", {1000, 100, 1});
  const JobId b = world.submit("default", {1000, 100, 1});
  const JobId c = world.submit("default", {1000, 100, 1});
  world.decide();
  EXPECT_EQ(world.attempt(a).gpus, std::vector<int>{0});
  EXPECT_EQ(world.attempt(b).gpus, std::vector<int>{1});
  EXPECT_EQ(world.status(c), "RUNNABLE");
  world.end(a, fact::Verdict::kSucceeded);
  world.decide();
  EXPECT_EQ(world.attempt(c).gpus, std::vector<int>{0});
}

TEST(Queues, FirstInFirstOutEvenWhenALaterJobWouldFit) {
  World world(kHost);
  world.environment("local", {type("host", kHost)}, 4);
  world.queue("default", {"local"});
  const JobId running = world.submit("default", {3000, 100, 0});
  const JobId large = world.submit("default", {4000, 100, 0});
  const JobId small = world.submit("default", {1000, 100, 0});
  world.decide();
  EXPECT_EQ(world.status(running), "STARTING");
  EXPECT_EQ(world.status(large), "RUNNABLE");
  EXPECT_EQ(world.status(small), "RUNNABLE");
  EXPECT_EQ(waiting_reason(world.state, *world.state.job(small)),
            "Waits behind " + large.text() + " in queue 'default': place 2 of 2; asks 1 vCPU, 100 MiB");
}

TEST(Queues, HigherPriorityGoesFirst) {
  World world(kHost);
  world.environment("local", {type("host", kHost)}, 4);
  world.queue("low", {"local"}, 1);
  world.queue("urgent", {"local"}, 9);
  const JobId early = world.submit("low", {4000, 100, 0});
  const JobId late = world.submit("urgent", {4000, 100, 0});
  world.decide();
  EXPECT_EQ(world.status(early), "RUNNABLE");
  EXPECT_EQ(world.status(late), "STARTING");
}

TEST(Queues, DisabledQueueStartsNothing) {
  World world(kHost);
  world.environment("local", {type("host", kHost)}, 4);
  world.queue("default", {"local"});
  const JobId id = world.submit("default", {1000, 100, 0});
  Queue disabled = world.state.queues().at("default").value;
  disabled.enabled = false;
  world.fact(fact::QueuePut{disabled});
  EXPECT_TRUE(world.decide().empty());
  EXPECT_EQ(waiting_reason(world.state, *world.state.job(id)),
            "Queue 'default' is disabled: enable it to start its jobs");
}

TEST(Holds, C4TooLargeAJobIsHeldWithBothFiguresAndBlocksNobody) {
  World world({2000, 7000, 0});
  world.environment("local", {type("host", {2000, 7000, 0})}, 2);
  world.queue("default", {"local"});
  const JobId large = world.submit("default", {4000, 31'000, 0});
  const JobId small = world.submit("default", {1000, 100, 0});
  world.decide();
  EXPECT_EQ(world.status(large), "RUNNABLE");
  EXPECT_EQ(world.status(small), "STARTING");
  EXPECT_EQ(
      waiting_reason(world.state, *world.state.job(large)),
      "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE - memory: asked 31000 MiB, largest 7000 MiB; vCPU: asked 4, "
      "largest 2 (compute environment 'local', instance type host: 2 vCPU, 7000 MiB)");
}

TEST(Holds, AChangedEnvironmentReleasesTheJob) {
  World world(kHost);
  world.environment("small", {type("c5.large", {2000, 4000, 0})}, 4);
  world.queue("q", {"small"});
  const JobId id = world.submit("q", {4000, 100, 0});
  EXPECT_TRUE(world.decide().empty());
  world.environment("small", {type("c5.large", {2000, 4000, 0}), type("c5.xlarge", {4000, 8000, 0})}, 4);
  world.decide();
  EXPECT_EQ(world.status(id), "STARTING");
}

TEST(Holds, UnknownImageSaysWhatToMap) {
  World world(kHost);
  world.environment("local", {type("host", kHost)}, 4);
  world.queue("default", {"local"});
  JobSpec spec;
  spec.queue = "default";
  spec.image = "busybox:1";
  spec.resources = {1000, 100, 0};
  const JobId id{Uuid{1, 1}};
  world.fact(fact::JobSubmitted{id, spec, {}});
  EXPECT_TRUE(world.decide().empty());
  EXPECT_TRUE(
      waiting_reason(world.state, *world.state.job(id))
          .starts_with("MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT - image 'busybox:1' has no runtime on this host"));
}

TEST(Dependencies, C15AFailureFailsTheWholeChain) {
  World world(kHost);
  world.environment("local", {type("host", kHost)}, 4);
  world.queue("default", {"local"});
  const JobId a = world.submit("default", {1000, 100, 0});
  const JobId b = world.submit("default", {1000, 100, 0}, {a});
  const JobId c = world.submit("default", {1000, 100, 0}, {b});
  world.decide();
  EXPECT_EQ(world.status(b), "PENDING");
  world.end(a, fact::Verdict::kRetry);
  world.decide();
  EXPECT_EQ(world.status(b), "PENDING") << "a dependency with attempts left has not failed";
  world.end(a, fact::Verdict::kFailed);
  world.decide();
  EXPECT_EQ(world.status(b), "gone");
  EXPECT_EQ(world.status(c), "gone");
  const auto finished = world.state.take_finished();
  ASSERT_EQ(finished.size(), 3u);
  for (const size_t i : {1, 2}) {
    EXPECT_STREQ(status_name(finished[i]), "FAILED");
    EXPECT_EQ(finished[i].status_reason, "Dependent job failed: " + a.text() + " (job1)");
  }
}

TEST(Dependencies, JobRunsOnceAllHaveSucceeded) {
  World world(kHost);
  world.environment("local", {type("host", kHost)}, 4);
  world.queue("default", {"local"});
  const JobId a = world.submit("default", {1000, 100, 0});
  const JobId b = world.submit("default", {1000, 100, 0});
  const JobId c = world.submit("default", {1000, 100, 0}, {a, b});
  world.decide();
  world.end(a, fact::Verdict::kSucceeded);
  world.decide();
  EXPECT_EQ(world.status(c), "PENDING");
  world.end(b, fact::Verdict::kSucceeded);
  world.decide();
  EXPECT_EQ(world.status(c), "STARTING");
}

TEST(Instances, IdleOnesEndAfterTheIdleTimeAndMinimumOnesStay) {
  World world(kHost);
  world.environment("none", {type("c5.large", {2000, 4000, 0})}, 4);
  world.environment("warm", {type("c5.large", {2000, 4000, 0})}, 4, 2);
  world.queue("q", {"none"});
  const JobId id = world.submit("q", {1000, 100, 0});
  world.decide();
  EXPECT_EQ(world.state.instances().size(), 2u);
  world.end(id, fact::Verdict::kSucceeded);
  world.decide();
  EXPECT_EQ(next_decision_at(world.state, world.now, true), Instant{1'000'000} + Duration::seconds(60));
  world.now = world.now + Duration::seconds(59);
  EXPECT_TRUE(world.decide().empty());
  world.now = world.now + Duration::seconds(1);
  EXPECT_EQ(world.decide().size(), 1u);
  ASSERT_EQ(world.state.instances().size(), 1u);
  EXPECT_EQ(world.state.instances().begin()->second.value.environment, "warm");
  EXPECT_EQ(next_decision_at(world.state, world.now, true), std::nullopt);
}

TEST(Instances, OneMadeToAJobsSizeEndsWithIt) {
  World world(kHost);
  world.environment("fargate", {}, 4);
  world.queue("q", {"fargate"});
  const JobId id = world.submit("q", {1000, 100, 0});
  world.decide();
  ASSERT_EQ(world.state.instances().size(), 1u);
  world.end(id, fact::Verdict::kSucceeded);
  EXPECT_EQ(next_decision_at(world.state, world.now, true), world.now);
  ASSERT_EQ(world.decide().size(), 1u);
  EXPECT_TRUE(world.state.instances().empty());
}

TEST(Instances, IdleOnesEndInTheOrderOfTheirIdsWhateverTheirEnvironment) {
  World world(kHost);
  world.environment("a", {type("c5.large", {2000, 4000, 0})}, 4);
  world.environment("b", {type("c5.large", {2000, 4000, 0})}, 4);
  for (const auto& [number, environment] : {std::pair(5, "a"), std::pair(3, "b"), std::pair(9, "a")}) {
    Instance instance;
    instance.id = InstanceId{static_cast<uint64_t>(number)};
    instance.environment = environment;
    instance.size = {1000, 1000, 0};
    world.fact(fact::InstanceStarted{instance});
  }
  world.now = world.now + Duration::seconds(60);
  const auto decisions = world.decide();
  ASSERT_EQ(decisions.size(), 3u);
  EXPECT_EQ(std::get<fact::InstanceEnded>(decisions[0]).id, InstanceId{3});
  EXPECT_EQ(std::get<fact::InstanceEnded>(decisions[1]).id, InstanceId{5});
  EXPECT_EQ(std::get<fact::InstanceEnded>(decisions[2]).id, InstanceId{9});
}

TEST(Starts, AHoldPlacesNothingButStillSettlesDependents) {
  World world(kHost);
  world.environment("local", {type("host", kHost)}, 4);
  world.queue("default", {"local"});
  const JobId a = world.submit("default", {1000, 100, 0});
  world.decide();
  const JobId b = world.submit("default", {1000, 100, 0}, {a});
  world.end(a, fact::Verdict::kSucceeded);
  world.decide(false);
  EXPECT_EQ(world.status(b), "RUNNABLE");
  world.decide();
  EXPECT_EQ(world.status(b), "STARTING");
}

TEST(State, SnapshotKeepsWhatDecidingNeeds) {
  World world(kHost);
  world.environment("local", {type("host", kHost)}, 4);
  world.queue("default", {"local"});
  const JobId running = world.submit("default", {3000, 100, 2});
  const JobId waiting = world.submit("default", {2000, 100, 0});
  const JobId pending = world.submit("default", {1000, 100, 0}, {running});
  world.decide();
  const State copy(world.state.site(), world.state.snapshot());
  EXPECT_EQ(copy.host_free(), world.state.host_free());
  EXPECT_TRUE(copy.free_gpus(1).empty());
  EXPECT_EQ(copy.queues().at("default").ready.begin()->second, waiting);
  EXPECT_STREQ(status_name(*copy.job(pending)), "PENDING");
  EXPECT_EQ(copy.next_order(), 4u);
}

}  // namespace
}  // namespace teson
