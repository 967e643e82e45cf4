#include "core/scheduler/time_limits.h"

#include <gtest/gtest.h>

#include "core/scheduler/world_testing.h"

namespace teson {
namespace {

constexpr const char* kCapacity = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY";
constexpr const char* kTooLarge = "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE";

class TimeLimits : public testing::Test {
 protected:
  TimeLimits() {
    world.environment("local", {type("host", kHost)}, 4);
    Queue queue;
    queue.name = "default";
    queue.environments = {"local"};
    queue.time_limits = {{kTooLarge, 600}, {kCapacity, 900}};
    world.fact(fact::QueuePut{queue});
  }
  void pass(int64_t seconds) {
    world.now = world.now + Duration::seconds(seconds);
    world.decide();
  }

  World world{kHost};
};

// C3, of a job that can never run as things are.
TEST_F(TimeLimits, OneThatCanNeverRunIsCancelledWithItsReason) {
  const JobId large = world.submit("default", {1000, 9000, 0});
  world.decide();
  EXPECT_EQ(next_decision_at(world.state, world.now, true), world.now + Duration::seconds(600));
  pass(599);
  EXPECT_EQ(world.status(large), "RUNNABLE");
  pass(1);
  const auto finished = world.state.take_finished();
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_STREQ(status_name(finished[0]), "FAILED");
  EXPECT_EQ(finished[0].stop->kind, StopKind::kCancel);
  EXPECT_EQ(finished[0].status_reason,
            "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE - memory: asked 9000 MiB, largest 8000 MiB (compute "
            "environment 'local', instance type host: 4 vCPU, 8000 MiB, 2 GPU) (cancelled after 600 s: "
            "jobStateTimeLimitActions of queue 'default')");
}

// C3: the head is cancelled, and the next one starts.
TEST_F(TimeLimits, TheHeadIsCancelledFromWhenItsTurnCameAndTheNextStarts) {
  const JobId running = world.submit("default", {3000, 100, 0});
  const JobId ahead = world.submit("default", {4000, 100, 0});
  const JobId head = world.submit("default", {4000, 100, 0});
  const JobId small = world.submit("default", {1000, 100, 0});
  world.decide();
  pass(500);
  world.fact(fact::StopRequested{ahead, {StopKind::kCancel, "no", world.now}});
  world.fact(fact::JobFailed{ahead, "no"});
  world.decide();
  pass(899);  // its turn came 899 s ago, it has waited for longer
  EXPECT_EQ(world.status(head), "RUNNABLE");
  EXPECT_EQ(world.status(small), "RUNNABLE");
  pass(1);
  EXPECT_EQ(world.status(head), "gone");
  EXPECT_EQ(world.status(small), "STARTING");
  EXPECT_EQ(world.status(running), "STARTING");
}

TEST_F(TimeLimits, AnArrayThatCanNeverRunFailsAsAWhole) {
  JobSpec spec = World::spec("default", {1000, 9000, 0});
  spec.array = ArraySpec{.size = 3};
  const JobId id = world.submit(spec);
  world.decide();
  pass(600);
  EXPECT_EQ(world.status(id), "gone");
  EXPECT_EQ(world.state.take_finished().at(0).array->children, "FFF");
}

TEST_F(TimeLimits, NothingIsCancelledWhileStartsAreHeld) {
  const JobId large = world.submit("default", {1000, 9000, 0});
  world.now = world.now + Duration::seconds(601);
  world.decide(false);
  EXPECT_EQ(world.status(large), "RUNNABLE");
  EXPECT_EQ(next_decision_at(world.state, world.now, false), std::nullopt);
  world.decide();
  EXPECT_EQ(world.status(large), "gone");
}

TEST_F(TimeLimits, TheTimeOfOneThatCanNeverRunGoesOnOverASnapshot) {
  const JobId large = world.submit("default", {1000, 9000, 0});
  world.decide();
  pass(300);
  World copy{kHost};
  copy.state = State(World::make_site(kHost), world.state.snapshot());
  copy.now = world.now + Duration::seconds(300);
  copy.decide();
  EXPECT_EQ(copy.status(large), "gone");
}

}  // namespace
}  // namespace teson
