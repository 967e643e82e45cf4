#include "core/scheduler/preemption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/explain/waiting.h"
#include "core/scheduler/world_testing.h"

namespace teson {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A host of 4 vCPUs; queue "od" on demand, queue "spot" of spot instances that are made to their jobs' size. The spot
// queue has the higher priority: that must not help it.
class Preemption : public testing::Test {
 protected:
  explicit Preemption(bool on = true) : world_({4000, 8000, 2}, on) {
    world_.market_environment("e-od", Market::kOnDemand, 4);
    world_.market_environment("e-spot", Market::kSpot, 4);
    world_.queue("od", {"e-od"}, 1);
    world_.queue("spot", {"e-spot"}, 5);
  }

  struct SpotWorld : World {
    SpotWorld(Resources host, bool on) : World(host), site(make_site(host)) {
      site.preemption = on;
      state = State(site);
    }
    void market_environment(const std::string& name, Market market, int64_t max_vcpus) {
      ComputeEnvironment e;
      e.name = name;
      e.market = market;
      e.max_vcpus = max_vcpus;
      fact(fact::EnvironmentPut{e});
    }
    Site site;
  };

  // A second older than the next one.
  JobId spot(int64_t milli_vcpus) { return job("spot", milli_vcpus); }
  JobId job(const std::string& queue, int64_t milli_vcpus) {
    world_.now = world_.now + Duration::seconds(1);
    JobSpec spec = World::spec(queue, {milli_vcpus, 100, 0});
    spec.grace = Duration::seconds(20);
    spec.retry.attempts = 5;
    const JobId id = world_.submit(spec);
    decisions_ = world_.decide();
    return id;
  }
  void end(const JobId& id, fact::Verdict verdict = fact::Verdict::kRetry) {
    world_.now = world_.now + Duration::seconds(1);
    world_.end(id, verdict);
    decisions_ = world_.decide();
  }
  bool is_interrupted(const JobId& id) const {
    return world_.state.instances().at(world_.attempt(id).instance).value.interruption.has_value();
  }
  std::vector<InstanceId> interrupted_now() const {
    std::vector<InstanceId> out;
    for (const FactBody& body : decisions_) {
      if (const auto* f = std::get_if<fact::InstanceInterrupted>(&body)) out.push_back(f->id);
    }
    return out;
  }
  InstanceId instance(const JobId& id) const { return world_.attempt(id).instance; }
  std::string status(const JobId& id) const { return world_.status(id); }

  SpotWorld world_;
  std::vector<FactBody> decisions_;
};

class PreemptionOff : public Preemption {
 protected:
  PreemptionOff() : Preemption(false) {}
};

TEST_F(Preemption, TheYoungestGoFirst) {
  const JobId oldest = spot(1000), second = spot(1000), third = spot(1000), youngest = spot(1000);
  const JobId owner = job("od", 2000);
  EXPECT_THAT(interrupted_now(), ElementsAre(instance(youngest), instance(third)));
  EXPECT_FALSE(is_interrupted(oldest));
  EXPECT_FALSE(is_interrupted(second));
  const Interruption& taken = *world_.state.instances().at(instance(youngest)).value.interruption;
  EXPECT_EQ(taken.at, world_.now);
  EXPECT_EQ(taken.until, world_.now + Duration::seconds(20));
  EXPECT_EQ(taken.for_job, owner);
  EXPECT_EQ(taken.reason, "interrupted for on-demand job " + owner.text() + " (job)");
  EXPECT_EQ(status(owner), "RUNNABLE");
}

TEST_F(Preemption, WhatTurnsOutUnneededIsLeft) {
  const JobId old = spot(3000), young = spot(1000);
  job("od", 3000);
  EXPECT_THAT(interrupted_now(), ElementsAre(instance(old)));
  EXPECT_FALSE(is_interrupted(young));
}

TEST_F(Preemption, FreeRoomIsCountedFirst) {
  const JobId old = spot(2000), young = spot(1000);
  job("od", 2000);
  EXPECT_THAT(interrupted_now(), ElementsAre(instance(young)));
  EXPECT_FALSE(is_interrupted(old));
}

TEST_F(Preemption, NothingIsInterruptedWhereItWouldNotDo) {
  job("od", 3000);
  spot(1000);
  job("od", 2000);
  EXPECT_THAT(interrupted_now(), IsEmpty());
}

TEST_F(Preemption, NothingIsInterruptedWhereMaxVcpusIsInTheWay) {
  world_.market_environment("e-od", Market::kOnDemand, 2);
  job("od", 1000);
  spot(3000);
  job("od", 2000);
  EXPECT_THAT(interrupted_now(), IsEmpty());
}

TEST_F(Preemption, WhoAsksForAConsumableResourceInterruptsNobody) {
  spot(4000);
  world_.fact(fact::ConsumablePut{{"licence", ConsumableKind::kReplenishable, 1, {}, {}, {}}});
  JobSpec spec = World::spec("od", {1000, 100, 0});
  spec.consumables = {{"licence", 1}};
  world_.submit(spec);
  EXPECT_THAT(world_.decide(), IsEmpty());
  job("od", 500);
  EXPECT_THAT(decisions_, IsEmpty()) << "it is not its turn";
}

TEST_F(Preemption, SpotInterruptsNobody) {
  spot(3000);
  spot(2000);
  EXPECT_THAT(interrupted_now(), IsEmpty());
}

TEST_F(Preemption, OnDemandWorkIsNeverInterrupted) {
  const JobId first = job("od", 4000);
  job("od", 2000);
  EXPECT_THAT(interrupted_now(), IsEmpty());
  EXPECT_FALSE(is_interrupted(first));
}

TEST_F(Preemption, OneNeedInterruptsOnce) {
  spot(2000);
  const JobId young = spot(2000);
  job("od", 2000);
  ASSERT_THAT(interrupted_now(), ElementsAre(instance(young)));
  world_.now = world_.now + Duration::seconds(5);
  EXPECT_THAT(world_.decide(), IsEmpty());
  job("od", 1000);  // not next in its turn
  EXPECT_THAT(interrupted_now(), IsEmpty());
}

TEST_F(Preemption, RoomThatIsToComeByAUsersInterruptionCounts) {
  const JobId old = spot(2000), young = spot(2000);
  const InstanceState& instance = world_.state.instances().at(this->instance(old));
  world_.fact(make_interruption(world_.state, instance, world_.now, "interrupted by ana", std::nullopt));
  job("od", 2000);
  EXPECT_THAT(interrupted_now(), IsEmpty());
  EXPECT_FALSE(is_interrupted(young));
}

TEST_F(Preemption, TheRoomGoesToWhomItWasMadeForThoughOthersComeFirst) {
  const JobId victim = spot(4000);
  const JobId owner = job("od", 3000);
  const JobId other = spot(1000);
  EXPECT_EQ(status(other), "RUNNABLE");
  end(victim);
  EXPECT_EQ(status(owner), "STARTING");
  EXPECT_EQ(world_.attempt(owner).environment, "e-od");
  EXPECT_EQ(status(victim), "RUNNABLE");
  EXPECT_EQ(status(other), "RUNNABLE") << "behind the victim in its queue";
  EXPECT_TRUE(world_.state.interrupted().empty());
}

TEST_F(Preemption, WhatIsFreeEarlyIsKept) {
  const JobId first = spot(2000), second = spot(2000);
  const JobId owner = job("od", 4000);
  ASSERT_EQ(interrupted_now().size(), 2u);
  const JobId small = spot(500);
  end(second);
  EXPECT_EQ(status(small), "RUNNABLE");
  EXPECT_EQ(status(second), "RUNNABLE");
  EXPECT_EQ(status(owner), "RUNNABLE");
  end(first);
  EXPECT_EQ(status(owner), "STARTING");
}

TEST_F(Preemption, WhatTheOwnerDoesNotNeedMayBeUsedMeanwhile) {
  const JobId victim = spot(3500);
  job("od", 3000);
  ASSERT_THAT(interrupted_now(), ElementsAre(instance(victim)));
  const JobId small = spot(500);  // 500 free, and 500 of the victim's are nobody's
  EXPECT_EQ(status(small), "STARTING");
}

TEST_F(Preemption, APromiseOutlastsAPauseInWhichNothingMayStart) {
  const JobId victim = spot(4000);
  const JobId owner = job("od", 3000);
  world_.end(victim, fact::Verdict::kRetry);
  EXPECT_THAT(world_.decide(false), IsEmpty());
  ASSERT_EQ(world_.state.interrupted().size(), 1u);
  world_.decide();
  EXPECT_EQ(status(owner), "STARTING");
  EXPECT_TRUE(world_.state.interrupted().empty());
}

TEST_F(Preemption, WhereTheOwnerIsGoneTheRoomIsAnybodys) {
  const JobId victim = spot(4000);
  const JobId owner = job("od", 3000);
  world_.fact(fact::StopRequested{owner, {StopKind::kCancel, "", world_.now}});
  world_.fact(fact::JobFailed{owner, ""});
  end(victim);
  EXPECT_EQ(status(victim), "STARTING");
  EXPECT_TRUE(world_.state.interrupted().empty());
}

TEST_F(Preemption, NothingIsPlacedOnAnInterruptedInstance) {
  ComputeEnvironment e;
  e.name = "e-spot";
  e.market = Market::kSpot;
  e.max_vcpus = 4;
  e.instance_types = {type("host", {4000, 8000, 2})};
  world_.fact(fact::EnvironmentPut{e});
  const JobId victim = spot(1000);
  const InstanceState& instance = world_.state.instances().at(this->instance(victim));
  world_.fact(make_interruption(world_.state, instance, world_.now, "interrupted by ana", std::nullopt));
  const JobId late = spot(1000);
  EXPECT_EQ(status(late), "RUNNABLE") << "maxvCpus is used up by the instance that goes";
  end(victim);
  EXPECT_EQ(status(victim), "STARTING");
  EXPECT_EQ(status(late), "STARTING");
  EXPECT_FALSE(is_interrupted(late));
  EXPECT_EQ(this->instance(late), this->instance(victim));
}

TEST_F(Preemption, WorkThatMayRunOnBothTakesTheRoomOnDemand) {
  world_.queue("both", {"e-spot", "e-od"}, 1);
  const JobId victim = spot(4000);
  const JobId owner = job("both", 2000);
  ASSERT_THAT(interrupted_now(), ElementsAre(instance(victim)));
  end(victim);
  EXPECT_EQ(world_.attempt(owner).environment, "e-od");
}

TEST_F(Preemption, OnDemandWorkOfAHigherPriorityMayTakeIt) {
  world_.queue("urgent", {"e-od"}, 9);
  const JobId first = spot(2000), second = spot(2000);
  const JobId owner = job("od", 4000);
  ASSERT_EQ(interrupted_now().size(), 2u);
  const JobId urgent = job("urgent", 2000);
  end(first);
  EXPECT_EQ(status(urgent), "STARTING");
  end(second);
  EXPECT_EQ(status(owner), "RUNNABLE");
}

TEST_F(Preemption, QueuesOfOneEnvironmentAreMadeRoomForInTurn) {
  world_.queue("od2", {"e-od"}, 1);
  const JobId old = spot(2000), young = spot(2000);
  job("od", 1000);
  ASSERT_THAT(interrupted_now(), ElementsAre(instance(young)));
  const JobId second = job("od2", 2000);
  EXPECT_THAT(interrupted_now(), IsEmpty());
  end(young);
  EXPECT_THAT(interrupted_now(), ElementsAre(instance(old)));
  end(old);
  EXPECT_EQ(status(second), "STARTING");
}

TEST_F(Preemption, OnDemandWorkIsNotPlacedOnSpotInstancesOfBeforeTheirEnvironmentChanged) {
  ComputeEnvironment e;
  e.name = "e-spot";
  e.market = Market::kSpot;
  e.max_vcpus = 4;
  e.instance_types = {type("half", {2000, 4000, 0})};
  world_.fact(fact::EnvironmentPut{e});
  const JobId victim = spot(500);
  e.market = Market::kOnDemand;
  world_.fact(fact::EnvironmentPut{e});
  const JobId later = spot(500);
  EXPECT_NE(instance(later), instance(victim));
  EXPECT_EQ(world_.state.instances().at(instance(later)).value.market, Market::kOnDemand);
}

TEST_F(Preemption, AnArraysNextChildUsesThePromiseOfItsArray) {
  const JobId first = spot(2000), second = spot(2000);
  JobSpec spec = World::spec("od", {2000, 100, 0});
  spec.array = ArraySpec{.size = 3};
  const JobId array = world_.submit(spec);
  decisions_ = world_.decide();
  ASSERT_THAT(interrupted_now(), ElementsAre(instance(second)));
  EXPECT_EQ(interrupted_for(world_.state, array.child(1)).size(), 1u);
  end(second);
  EXPECT_EQ(status(array.child(0)), "STARTING");
  EXPECT_THAT(interrupted_now(), ElementsAre(instance(first))) << "a need of its own";
}

TEST_F(Preemption, ASnapshotKeepsIt) {
  const JobId victim = spot(4000);
  const JobId owner = job("od", 3000);
  State loaded(world_.site, world_.state.snapshot());
  EXPECT_EQ(loaded.interrupted(), world_.state.interrupted());
  EXPECT_EQ(loaded.instances().at(instance(victim)).value.interruption->for_job, owner);
  EXPECT_FALSE(next_decision(loaded, world_.now, true));
}

TEST_F(Preemption, TheWaitingJobSaysWhatItInterruptsAndUntilWhen) {
  const JobId victim = spot(4000);
  const JobId owner = job("od", 3000);
  const Explanation why = explain_live(world_.state, *world_.state.job(owner));
  EXPECT_THAT(why.sentence, HasSubstr("interrupts spot work of " + victim.text().substr(0, 8) +
                                      " (job), room by 1970-01-01T00:00:23Z at the latest"));
  EXPECT_THAT(why.lines, testing::Contains(HasSubstr("interrupts instance " + instance(victim).text())));
  EXPECT_THAT(explain_live(world_.state, *world_.state.job(victim)).sentence,
              HasSubstr("is being interrupted for on-demand job " + owner.text()));
}

TEST_F(PreemptionOff, NothingIsInterrupted) {
  spot(4000);
  job("od", 1000);
  EXPECT_THAT(interrupted_now(), IsEmpty());
}

}  // namespace
}  // namespace teson
