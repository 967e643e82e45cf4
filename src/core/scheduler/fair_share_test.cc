#include "core/scheduler/fair_share.h"

#include <gtest/gtest.h>

#include <map>

#include "core/explain/waiting.h"
#include "core/scheduler/world_testing.h"

namespace teson {
namespace {

// Four jobs of one vCPU fit at once.
class FairShare : public testing::Test {
 protected:
  FairShare() { world.environment("local", {type("host", kHost)}, 4); }

  void queue_with(SchedulingPolicy policy) {
    policy.name = "p";
    world.fact(fact::PolicyPut{policy});
    Queue queue;
    queue.name = "default";
    queue.environments = {"local"};
    queue.policy = "p";
    world.fact(fact::QueuePut{queue});
  }

  JobId submit(const std::string& share, int64_t milli_vcpus = 1000, int priority = 0) {
    JobSpec spec = World::spec("default", {milli_vcpus, 100, 0});
    spec.share = share;
    spec.priority = priority;
    const JobId id = world.submit(spec);
    share_of[id] = share;
    return id;
  }

  // Every share always has work of `seconds`; returns the vCPU seconds that each got.
  std::map<std::string, double> compete(const std::vector<std::string>& shares, int rounds, int64_t seconds) {
    std::map<std::string, double> got;
    for (const std::string& share : shares) {
      for (int i = 0; i < 4; ++i) submit(share);
    }
    world.decide();
    for (int round = 0; round < rounds; ++round) {
      world.now = world.now + Duration::seconds(seconds);
      std::vector<JobId> running;
      for (const auto& [id, job] : world.state.jobs()) {
        if (live_attempt(job)) running.push_back(id);
      }
      for (const JobId& id : running) {
        got[share_of[id]] += static_cast<double>(seconds);
        submit(share_of[id]);
        world.end(id, fact::Verdict::kSucceeded);
      }
      world.state.take_finished();
      world.decide();
    }
    return got;
  }

  std::string running() const {
    std::map<std::string, int> counts;
    for (const auto& [id, job] : world.state.jobs()) {
      if (live_attempt(job)) ++counts[share_of.at(id)];
    }
    std::string out;
    for (const auto& [share, count] : counts) out += share + std::to_string(count) + " ";
    return out;
  }

  World world{kHost};
  std::map<JobId, std::string> share_of;
};

TEST_F(FairShare, EqualWeightsShareEquallyWhoeverCameFirst) {
  queue_with({});
  for (int i = 0; i < 8; ++i) submit("a");
  for (int i = 0; i < 8; ++i) submit("b");
  world.decide();
  EXPECT_EQ(running(), "a2 b2 ");
}

// The smaller the weight, the larger the share: 0.5 gets twice what 1 gets, and 2 half of it.
TEST_F(FairShare, UseConvergesToTheWeights) {
  SchedulingPolicy policy;
  policy.decay_seconds = 600;
  policy.shares = {{"half", 5'000}, {"two", 20'000}};
  queue_with(policy);
  const auto got = compete({"half", "one", "two"}, 2000, 10);
  const double all = got.at("half") + got.at("one") + got.at("two");
  EXPECT_NEAR(got.at("half") / all, 4.0 / 7, 0.01);
  EXPECT_NEAR(got.at("one") / all, 2.0 / 7, 0.01);
  EXPECT_NEAR(got.at("two") / all, 1.0 / 7, 0.01);
}

TEST_F(FairShare, AVeryHeavyShareIsServedAllTheSame) {
  SchedulingPolicy policy;
  policy.shares = {{"light", 1}, {"heavy", 9'999'999}};
  queue_with(policy);
  const JobId heavy = submit("heavy", 4000);
  for (int i = 0; i < 100'000 && world.status(heavy) == "RUNNABLE"; ++i) {
    submit("light");
    world.decide();
    world.now = world.now + Duration::seconds(60);
    std::vector<JobId> running;
    for (const auto& [id, job] : world.state.jobs()) {
      if (live_attempt(job)) running.push_back(id);
    }
    for (const JobId& id : running) {
      if (id != heavy) world.end(id, fact::Verdict::kSucceeded);
    }
    world.state.take_finished();
  }
  EXPECT_EQ(world.status(heavy), "STARTING");
}

TEST_F(FairShare, PastUseFades) {
  SchedulingPolicy policy;
  policy.decay_seconds = 100;
  ShareState share;
  share.running = 2000;
  share.at = Instant{0};
  // 2 vCPU for 100 s: 2 * 100 * (1 - 1/e) = 126.424 vCPU seconds.
  EXPECT_EQ(used_at(share, policy, Instant{100'000'000}), 126'424);
  share.used = 126'424;
  share.at = Instant{100'000'000};
  share.running = 0;
  EXPECT_EQ(used_at(share, policy, Instant{200'000'000}), 46'509);  // / e
  EXPECT_EQ(used_at(share, policy, Instant{0}), 126'424) << "a clock that was set back changes nothing";
}

TEST_F(FairShare, PriorityOrdersAShareAndOnlyThat) {
  queue_with({});
  const JobId low = submit("a", 4000, 1);
  const JobId high = submit("a", 4000, 7);
  const JobId other = submit("b", 4000, 0);
  world.decide();
  EXPECT_EQ(world.status(high), "STARTING");
  world.now = world.now + Duration::seconds(10);
  world.end(high, fact::Verdict::kSucceeded);
  world.decide();
  EXPECT_EQ(world.status(other), "STARTING") << "its share has used nothing yet";
  EXPECT_EQ(waiting_reason(world.state, *world.state.job(low)).substr(0, 40),
            "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY ");
}

// 50 % kept for shares to come: one active share gets 2 of 4 vCPUs, two get 3.
TEST_F(FairShare, TheReservationIsKeptForSharesThatComeLater) {
  SchedulingPolicy policy;
  policy.compute_reservation = 50;
  queue_with(policy);
  std::vector<JobId> own;
  for (int i = 0; i < 6; ++i) own.push_back(submit("a"));
  world.decide();
  EXPECT_EQ(running(), "a2 ");
  EXPECT_EQ(waiting_reason(world.state, *world.state.job(own[2])),
            "Capacity of queue 'default' is kept for other shares (computeReservation of its scheduling policy)");
  submit("b");
  world.decide();
  EXPECT_EQ(running(), "a2 b1 ");
  submit("c");
  world.decide();
  EXPECT_EQ(running(), "a2 b1 c1 ");
}

TEST_F(FairShare, AJobLargerThanTheReservationLeavesRunsAlone) {
  SchedulingPolicy policy;
  policy.compute_reservation = 99;
  queue_with(policy);
  const JobId large = submit("a", 4000);
  world.decide();
  EXPECT_EQ(world.status(large), "STARTING");
}

TEST_F(FairShare, AnArraysChildrenUseItsShare) {
  queue_with({});
  JobSpec spec = World::spec("default", {1000, 100, 0});
  spec.share = "a";
  spec.array = ArraySpec{.size = 10};
  const JobId id = world.submit(spec);
  for (int i = 0; i < 4; ++i) submit("b");
  world.decide();
  EXPECT_EQ(world.state.job(id)->array->children, "SSRRRRRRRR");
}

TEST_F(FairShare, ASnapshotKeepsWhatWasUsed) {
  queue_with({});
  const JobId a = submit("a", 4000);
  world.decide();
  world.now = world.now + Duration::seconds(300);
  world.end(a, fact::Verdict::kSucceeded);
  World copy{kHost};
  copy.state = State(World::make_site(kHost), world.state.snapshot());
  copy.now = world.now;
  copy.submitted = 100;
  for (World* one : {&world, &copy}) {
    JobSpec spec = World::spec("default", {4000, 100, 0});
    spec.share = "a";
    one->submit(spec);
    spec.share = "b";
    const JobId b = one->submit(spec);
    one->decide();
    EXPECT_EQ(one->status(b), "STARTING");
  }
}

TEST_F(FairShare, TheFrontOfTheQueueIsTheOrderOfTurns) {
  SchedulingPolicy policy;
  policy.shares = {{"half", 5'000}};
  queue_with(policy);
  std::vector<JobId> half;
  for (int i = 0; i < 4; ++i) half.push_back(submit("half"));
  const JobId one = submit("one");
  const JobId other = submit("one");
  const auto front = front_of_queue(world.state, world.state.queues().at("default"), world.now, 5);
  EXPECT_EQ(front, (std::vector{half[0], one, half[1], half[2], other}));
}

TEST(Overlap, PrefixesAndNames) {
  EXPECT_TRUE(overlap("a", "a"));
  EXPECT_FALSE(overlap("a", "b"));
  EXPECT_TRUE(overlap("team*", "team1"));
  EXPECT_TRUE(overlap("team1", "team*"));
  EXPECT_TRUE(overlap("team*", "te*"));
  EXPECT_FALSE(overlap("team*", "teal*"));
  EXPECT_TRUE(overlap("*", "x"));
}

}  // namespace
}  // namespace teson
