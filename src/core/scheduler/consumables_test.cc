#include "core/scheduler/consumables.h"

#include <gtest/gtest.h>

#include "core/explain/waiting.h"
#include "core/scheduler/world_testing.h"

namespace teson {
namespace {

class Consumables : public testing::Test {
 protected:
  Consumables() {
    world.environment("local", {type("host", kHost)}, 4);
    world.queue("default", {"local"});
  }

  void put(int64_t total, ConsumableKind kind = ConsumableKind::kReplenishable) {
    world.fact(fact::ConsumablePut{{"licence", kind, total, {}, {}, {}}});
  }
  JobId submit(int64_t quantity, std::optional<ArraySpec> array = {}) {
    JobSpec spec = World::spec("default", {500, 100, 0});
    spec.consumables = {{"licence", quantity}};
    spec.array = std::move(array);
    const JobId id = world.submit(spec);
    world.decide();
    return id;
  }
  void start(const JobId& id) { world.fact(fact::AttemptStarted{{id, world.attempt(id).number}, world.now, "s"}); }
  void end(const JobId& id, fact::Verdict verdict = fact::Verdict::kSucceeded) {
    world.end(id, verdict);
    world.decide();
  }
  const ConsumableState& licence() const { return world.state.consumables().at("licence"); }
  std::string reason(const JobId& id) const { return waiting_reason(world.state, *world.state.job(id)); }

  World world{kHost};
};

TEST_F(Consumables, AReplenishableOneIsHeldFromPlacementToTheAttemptsEnd) {
  put(3);
  const JobId a = submit(2);
  const JobId b = submit(2);
  EXPECT_EQ(world.status(a), "STARTING");
  EXPECT_EQ(world.status(b), "RUNNABLE");
  EXPECT_EQ(licence().in_use, 2);
  EXPECT_EQ(licence().available(), 1);
  EXPECT_EQ(reason(b),
            "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - first of 1 in queue 'default': consumable resource 'licence': "
            "asked 2, free 1 of 3; held by 00000000 (job, 2 of 'licence')");
  start(a);
  end(a, fact::Verdict::kRetry);
  EXPECT_EQ(world.status(a), "STARTING") << "the older one is first again";
  end(a);
  EXPECT_EQ(world.status(b), "STARTING");
  end(b);
  EXPECT_EQ(licence().in_use, 0);
  EXPECT_EQ(licence().value.total, 3);
  EXPECT_TRUE(licence().jobs.empty());
}

TEST_F(Consumables, ANonReplenishableOneIsUsedUpByAttemptsThatBegan) {
  put(5, ConsumableKind::kNonReplenishable);
  const JobId a = submit(2);
  end(a, fact::Verdict::kRetry);
  EXPECT_EQ(licence().value.total, 5) << "its program never ran";
  start(a);
  const JobId b = submit(4);
  EXPECT_EQ(world.status(b), "RUNNABLE");
  end(a);
  EXPECT_EQ(licence().value.total, 3);
  EXPECT_EQ(reason(b),
            "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT - consumable resource 'licence': asked 4, left of it 3");
  const JobId c = submit(3);
  EXPECT_EQ(world.status(c), "STARTING") << "one that can never run stands in nobody's way";
  end(c);
  put(4, ConsumableKind::kNonReplenishable);
  world.decide();
  EXPECT_EQ(world.status(b), "STARTING");
}

TEST_F(Consumables, ALowerTotalHoldsWhoAsksForMoreAndAHigherOneReleasesThem) {
  put(2);
  const JobId running = submit(2);
  const JobId two = submit(2);
  const JobId one = submit(1);
  put(1);
  world.decide();
  EXPECT_EQ(licence().in_use, 2);
  EXPECT_EQ(licence().available(), 0);
  end(running);
  EXPECT_EQ(world.status(two), "RUNNABLE");
  EXPECT_EQ(world.status(one), "STARTING");
  end(one);
  put(2);
  world.decide();
  EXPECT_EQ(world.status(two), "STARTING");
}

TEST_F(Consumables, EachChildOfAnArrayAsksForItself) {
  put(3);
  const JobId array = submit(1, ArraySpec{.size = 8});
  EXPECT_EQ(licence().in_use, 3);
  for (int i = 0; i < 8; ++i) {
    start(array.child(i));
    end(array.child(i));
  }
  EXPECT_EQ(licence().in_use, 0);
  EXPECT_EQ(world.state.job_count(), 0u);
}

TEST_F(Consumables, ASnapshotKeepsWhatIsInUse) {
  put(3);
  const JobId a = submit(2);
  const JobId b = submit(2);
  const JobId never = submit(9);
  World copy{kHost};
  copy.state = State(World::make_site(kHost), world.state.snapshot());
  EXPECT_EQ(copy.state.consumables().at("licence").in_use, 2);
  EXPECT_EQ(copy.state.consumables().at("licence").jobs.size(), 3u);
  EXPECT_TRUE(copy.state.queues().at("default").held.contains(copy.state.job(never)->order));
  copy.end(a, fact::Verdict::kSucceeded);
  copy.decide();
  EXPECT_EQ(copy.status(b), "STARTING");
}

}  // namespace
}  // namespace teson
