#include "core/scheduler/look_ahead.h"

#include <gtest/gtest.h>

#include "core/scheduler/world_testing.h"

namespace teson {
namespace {

// Four children of one vCPU run at once.
class LookAhead : public testing::Test {
 protected:
  LookAhead() {
    world.environment("local", {type("host", kHost)}, 4);
    world.queue("default", {"local"});
  }

  JobId submit(ArraySpec array, Resources ask = {1000, 100, 0}) {
    JobSpec spec = World::spec("default", ask);
    spec.array = std::move(array);
    const JobId id = world.submit(spec);
    world.decide();
    return id;
  }
  void end(const JobId& id, int64_t ran_millis, fact::Verdict verdict = fact::Verdict::kSucceeded) {
    AttemptEnd attempt_end;
    attempt_end.exit_code = verdict == fact::Verdict::kSucceeded ? 0 : 1;
    attempt_end.ended = world.now;
    attempt_end.usage.run = Duration::millis(ran_millis);
    world.fact(fact::AttemptEnded{{id, world.attempt(id).number}, attempt_end, verdict, "done"});
    world.decide();
  }
  std::string letters(const JobId& id) const { return world.state.job(id)->array->children; }
  int behind_count() const {
    int count = 0;
    for (const auto& [id, job] : world.state.jobs()) {
      const Attempt* live = live_attempt(job);
      count += live && live->behind ? 1 : 0;
    }
    return count;
  }

  World world{kHost};
};

TEST_F(LookAhead, ShortChildrenAreJudgedByThoseThatHaveEnded) {
  const JobId id = submit({.size = 200});
  for (int i = 0; i < 3; ++i) end(id.child(i), 10);
  EXPECT_EQ(behind_count(), 0) << "three ends are too few to judge by";
  end(id.child(3), 10);
  EXPECT_EQ(behind_count(), 40) << "100 ms of work of 10 ms each at each of four places";
  EXPECT_EQ(world.state.host_used().milli_vcpus, 4000) << "who waits has no place yet";
}

TEST_F(LookAhead, LongChildrenGetNoneAhead) {
  const JobId id = submit({.size = 200});
  for (int i = 0; i < 8; ++i) end(id.child(i), 51);
  EXPECT_EQ(behind_count(), 0);
}

TEST_F(LookAhead, ChildrenThatTakeNoTimeWaitByTheDozen) {
  const JobId id = submit({.size = 1000});
  for (int i = 0; i < 4; ++i) end(id.child(i), 0);
  EXPECT_EQ(behind_count(), 4 * 32);
}

TEST_F(LookAhead, WhoeverIsNextHasThePlaceOfOneThatEnds) {
  const JobId id = submit({.size = 12});
  for (int i = 0; i < 4; ++i) end(id.child(i), 1);
  EXPECT_EQ(letters(id), "++++SSSSSSSS");
  EXPECT_EQ(world.attempt(id.child(8)).behind, (AttemptId{id.child(4), 1}));
  end(id.child(4), 1);
  EXPECT_EQ(world.attempt(id.child(8)).behind, std::nullopt);
  EXPECT_EQ(world.state.host_used().milli_vcpus, 4000);
  for (int i = 5; i < 12; ++i) end(id.child(i), 1);
  EXPECT_EQ(world.state.host_used().milli_vcpus, 0);
  EXPECT_EQ(world.state.job_count(), 0u);
}

TEST_F(LookAhead, OneThatWaitsAndEndsLetsItsFollowerWaitOn) {
  const JobId id = submit({.size = 16});
  for (int i = 0; i < 4; ++i) end(id.child(i), 1);
  EXPECT_EQ(world.attempt(id.child(12)).behind, (AttemptId{id.child(8), 1}));
  end(id.child(8), 0, fact::Verdict::kFailed);  // stopped before it began
  EXPECT_EQ(world.attempt(id.child(12)).behind, (AttemptId{id.child(4), 1}));
  EXPECT_EQ(world.state.host_used().milli_vcpus, 4000);
}

TEST_F(LookAhead, AThrottleCountsPlacesAndIsNotPassed) {
  const JobId id = submit({.size = 50, .throttle = 2});
  for (int i = 0; i < 4; ++i) end(id.child(i), 1);
  EXPECT_EQ(behind_count(), 0);
  EXPECT_EQ(world.state.host_used().milli_vcpus, 2000);
}

TEST_F(LookAhead, OtherJobsGetThePlacesThatAreFree) {
  const JobId id = submit({.size = 50});
  for (int i = 0; i < 4; ++i) end(id.child(i), 1);
  const JobId other = world.submit("default", {1000, 100, 0});
  world.decide();
  EXPECT_EQ(world.status(other), "RUNNABLE");
  for (int i = 4; i < 50; ++i) end(id.child(i), 1);
  EXPECT_EQ(world.status(other), "STARTING");
}

TEST_F(LookAhead, ASnapshotKeepsWhoWaitsForWhom) {
  const JobId id = submit({.size = 12});
  for (int i = 0; i < 4; ++i) end(id.child(i), 1);
  World copy{kHost};
  copy.state = State(World::make_site(kHost), world.state.snapshot());
  EXPECT_EQ(copy.state.host_used().milli_vcpus, 4000);
  EXPECT_EQ(copy.state.follower_of(id.child(4)), id.child(8));
  copy.end(id.child(4), fact::Verdict::kSucceeded);
  EXPECT_EQ(copy.attempt(id.child(8)).behind, std::nullopt);
}

}  // namespace
}  // namespace teson
