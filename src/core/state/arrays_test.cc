// Arrays in the live state: dependencies, throttle, ends. Four jobs of one vCPU fit the host at once.
#include <gtest/gtest.h>

#include "core/explain/waiting.h"
#include "core/scheduler/fair_share.h"
#include "core/scheduler/world_testing.h"

namespace teson {
namespace {

class Arrays : public testing::Test {
 protected:
  Arrays() {
    world.environment("local", {type("host", kHost)}, 4);
    world.queue("default", {"local"});
  }

  JobId submit(ArraySpec array, bool after_any = false, std::vector<JobId> waiting_for = {},
               std::vector<int> doomed = {}) {
    JobSpec spec = World::spec("default", {1000, 100, 0});
    spec.array = std::move(array);
    spec.after_any = after_any;
    spec.depends_on = waiting_for;
    const JobId id{Uuid{7, ++world.submitted}};
    world.fact(fact::JobSubmitted{id, spec, std::move(waiting_for), std::move(doomed)});
    world.decide();
    return id;
  }
  std::string letters(const JobId& id) const { return world.state.job(id)->array->children; }
  void end(const JobId& id, fact::Verdict verdict) {
    world.end(id, verdict);
    world.decide();
  }
  void succeed(const JobId& id) { end(id, fact::Verdict::kSucceeded); }
  void fail(const JobId& id) { end(id, fact::Verdict::kFailed); }
  // The finished array, with all that finished before it dropped.
  Job finished(const JobId& id) {
    for (Job& job : world.state.take_finished()) {
      if (job.id == id) return std::move(job);
    }
    ADD_FAILURE() << "array " << id.text() << " has not finished";
    return {};
  }
  std::string reason(const JobId& child) const {
    const auto job = unbegun_child(*world.state.job(child.parent()), child.index);
    return job ? waiting_reason(world.state, *job) : "begun";
  }

  World world{kHost};
};

TEST_F(Arrays, ChildrenStartInOrderAndOnlyThoseThatRunAreJobs) {
  const JobId id = submit({.size = 10'000});
  EXPECT_EQ(letters(id).substr(0, 6), "SSSSRR");
  EXPECT_EQ(world.state.job_count(), 5u);  // the array and four children
  succeed(id.child(1));
  EXPECT_EQ(letters(id).substr(0, 6), "S+SSSR");
  EXPECT_EQ(world.state.job_count(), 5u);
  EXPECT_EQ(reason(id.child(5)).substr(0, 40), "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY ");
  EXPECT_EQ(reason(id.child(6)),
            "Waits behind " + id.child(5).text() + " in queue 'default': place 1 of 1; asks 1 vCPU, 100 MiB");
  EXPECT_EQ(waiting_reason(world.state, *world.state.job(id)), "1 of 10000 children have ended, 4 run, 9995 wait");
  EXPECT_STREQ(status_name(*world.state.job(id)), "PENDING");
}

TEST_F(Arrays, OneFailedChildFailsTheArrayOnceAllHaveEnded) {
  const JobId id = submit({.size = 3});
  fail(id.child(0));
  succeed(id.child(2));
  EXPECT_EQ(letters(id), "FS+");
  succeed(id.child(1));
  const Job array = finished(id);
  EXPECT_STREQ(status_name(array), "FAILED");
  EXPECT_EQ(array.status_reason, "Array Child Job failed");
  EXPECT_EQ(array.array->children, "F++");
  EXPECT_EQ(world.state.job_count(), 0u);
}

TEST_F(Arrays, ARetriedChildComesBeforeYoungerOnes) {
  const JobId id = submit({.size = 6});
  end(id.child(0), fact::Verdict::kRetry);
  EXPECT_EQ(letters(id), "SSSSRR");
  EXPECT_EQ(world.attempt(id.child(0)).number, 2);
}

TEST_F(Arrays, TheThrottleBoundsHowManyRunAndMayChange) {
  const JobId id = submit({.size = 6, .throttle = 2});
  EXPECT_EQ(letters(id), "SSRRRR");
  EXPECT_EQ(reason(id.child(2)), "Its array runs 2 children at once, as its throttle says");
  succeed(id.child(0));
  EXPECT_EQ(letters(id), "+SSRRR");
  world.fact(fact::JobTagged{id, {}, 1});
  world.decide();
  succeed(id.child(1));
  EXPECT_EQ(letters(id), "++SRRR");
  world.fact(fact::JobTagged{id, {}, 0});
  world.decide();
  EXPECT_EQ(letters(id), "++SSSS");
}

TEST_F(Arrays, SequentialChildrenFollowOneAnotherAndFailTogether) {
  const JobId id = submit({.size = 5, .sequential = true});
  EXPECT_EQ(letters(id), "SPPPP");
  EXPECT_EQ(reason(id.child(3)), "Waits for child 2 of its array (SEQUENTIAL)");
  succeed(id.child(0));
  EXPECT_EQ(letters(id), "+SPPP");
  fail(id.child(1));
  const Job array = finished(id);
  EXPECT_EQ(array.array->children, "+FFFF");
  ASSERT_EQ(array.array->failures.size(), 1u);
  EXPECT_EQ(array.array->failures[0].first, 2);
  EXPECT_EQ(array.array->failures[0].last, 4);
  EXPECT_EQ(array.array->failures[0].reason, "Dependent job failed: " + id.child(1).text());
}

// C16
TEST_F(Arrays, ASequentialArrayGoesOnAfterAFailureIfAsked) {
  const JobId id = submit({.size = 3, .sequential = true}, true);
  fail(id.child(0));
  EXPECT_EQ(letters(id), "FSP");
  succeed(id.child(1));
  succeed(id.child(2));
  EXPECT_EQ(finished(id).array->children, "F++");
}

TEST_F(Arrays, NToNPairsChildrenOneForOne) {
  const JobId first = submit({.size = 3});
  const JobId second = submit({.size = 3, .n_to_n = {first}});
  EXPECT_EQ(letters(second), "PPP");
  EXPECT_EQ(reason(second.child(1)), "Waits for " + first.child(1).text() + " (N_TO_N)");
  succeed(first.child(1));
  EXPECT_EQ(letters(second), "PSP");
  fail(first.child(0));
  EXPECT_EQ(letters(second), "FSP");
  succeed(first.child(2));  // the first array is gone with it
  EXPECT_EQ(letters(second), "FSS");
  succeed(second.child(1));
  succeed(second.child(2));
  const Job array = finished(second);
  EXPECT_EQ(array.array->children, "F++");
  EXPECT_EQ(failure_of(*array.array, 0)->reason, "Dependent job failed: " + first.child(0).text());
}

TEST_F(Arrays, AChainOfArraysFallsToItsEnd) {
  const JobId head = submit({.size = 2});
  JobId last = head;
  for (int i = 0; i < 1000; ++i) last = submit({.size = 2, .n_to_n = {last}});
  fail(head.child(0));
  EXPECT_EQ(letters(last), "FP");
  fail(head.child(1));
  EXPECT_EQ(finished(last).array->children, "FF");
  EXPECT_EQ(world.state.job_count(), 0u);
}

TEST_F(Arrays, ChildrenDoomedAtTheSubmitNeverRun) {
  const JobId id = submit({.size = 3}, false, {}, {0, 2});
  EXPECT_EQ(letters(id), "FSF");
  succeed(id.child(1));
  EXPECT_EQ(finished(id).array->children, "F+F");
}

TEST_F(Arrays, OnlyTheChosenChildrenExist) {
  const JobId id = submit({.size = 6, .only = {1, 4}, .sequential = true});
  EXPECT_EQ(letters(id), "-S--P-");
  EXPECT_FALSE(unbegun_child(*world.state.job(id), 0));
  succeed(id.child(1));
  EXPECT_EQ(letters(id), "-+--S-");
  succeed(id.child(4));
  EXPECT_STREQ(status_name(finished(id)), "SUCCEEDED");
}

TEST_F(Arrays, AnArrayWaitsForJobsAndJobsWaitForChildren) {
  const JobId before = world.submit("default", {1000, 100, 0});
  const JobId id = submit({.size = 2}, false, {before});
  EXPECT_EQ(letters(id), "PP");
  const JobId after = world.submit("default", {1000, 100, 0}, {id.child(1)});
  succeed(before);
  EXPECT_EQ(letters(id), "SS");
  EXPECT_EQ(world.status(after), "PENDING");
  succeed(id.child(1));
  EXPECT_EQ(world.status(after), "STARTING");
}

TEST_F(Arrays, AFailedDependencyFailsEveryChild) {
  const JobId before = world.submit("default", {1000, 100, 0});
  const JobId id = submit({.size = 2}, false, {before});  // decides
  fail(before);
  const Job array = finished(id);
  EXPECT_EQ(array.array->children, "FF");
  EXPECT_EQ(array.status_reason, "Dependent job failed: " + before.text() + " (job1)");
  EXPECT_EQ(unbegun_child(array, 1)->status_reason, array.status_reason);
}

// C16: a clean-up stage that runs whatever happened.
TEST_F(Arrays, AfterAnyRunsWhateverBecameOfTheOther) {
  const JobId before = world.submit("default", {1000, 100, 0});
  JobSpec spec = World::spec("default", {1000, 100, 0});
  spec.depends_on = {before};
  spec.after_any = true;
  const JobId after = world.submit(spec, {before});
  world.decide();
  fail(before);
  EXPECT_EQ(world.status(after), "STARTING");
}

TEST_F(Arrays, OneThatCanNeverFitIsHeldAndSaysWhy) {
  JobSpec spec = World::spec("default", {8000, 100, 0});
  spec.array = ArraySpec{.size = 2};
  const JobId id = world.submit(spec);
  world.decide();
  EXPECT_EQ(letters(id), "RR");
  EXPECT_NE(reason(id.child(1)).find("vCPU: asked 8, largest 4"), std::string::npos);
}

TEST_F(Arrays, TheFrontOfTheQueueHoldsTheChildrenThatMayRun) {
  const JobId id = submit({.size = 8});
  const JobId throttled = submit({.size = 8, .throttle = 2});
  const JobId last = world.submit("default", {1000, 100, 0});
  const QueueState& queue = world.state.queues().at("default");
  const std::vector<JobId> all = {id.child(4),        id.child(5),        id.child(6), id.child(7),
                                  throttled.child(0), throttled.child(1), last};
  EXPECT_EQ(front_of_queue(world.state, queue, world.now, 100), all);
  EXPECT_EQ(front_of_queue(world.state, queue, world.now, 2), (std::vector{id.child(4), id.child(5)}));
}

TEST_F(Arrays, ASnapshotHoldsAllOfIt) {
  const JobId first = submit({.size = 3, .throttle = 2});
  const JobId second = submit({.size = 3, .n_to_n = {first}});
  end(first.child(0), fact::Verdict::kRetry);
  World copy{kHost};
  copy.state = State(World::make_site(kHost), world.state.snapshot());
  copy.now = world.now;
  for (World* one : {&world, &copy}) {
    one->end(first.child(1), fact::Verdict::kSucceeded);
    one->decide();
    EXPECT_EQ(one->state.job(first)->array->children, "S+S");
    EXPECT_EQ(one->state.job(second)->array->children, "PSP");
    EXPECT_EQ(one->state.job(first.child(0))->spec.resources.milli_vcpus, 1000);
  }
}

}  // namespace
}  // namespace teson
