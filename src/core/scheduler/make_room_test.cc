#include <gtest/gtest.h>

#include "core/scheduler/decide.h"
#include "core/state/state.h"

namespace teson {
namespace {

constexpr Instant kNow{1'000'000};

State state_with(int64_t min_vcpus, int64_t max_vcpus) {
  State state(Site{.host = {16'000, 65'536, 0}});
  ComputeEnvironment environment;
  environment.name = "local";
  environment.instance_types = {{"small", {2000, 4096, 0}, {}, {}}, {"large", {4000, 8192, 0}, {}, {}}};
  environment.min_vcpus = min_vcpus;
  environment.max_vcpus = max_vcpus;
  state.apply({kNow, fact::EnvironmentPut{environment}});
  state.apply({kNow, fact::QueuePut{Queue{.name = "q", .environments = {"local"}}}});
  return state;
}

void decide(State& state) {
  while (auto next = next_decision(state, kNow, true)) state.apply({kNow, std::move(*next)});
}

JobId submit(State& state, uint64_t n, int64_t milli_vcpus) {
  JobSpec spec;
  spec.queue = "q";
  spec.image = "host";
  spec.resources = {milli_vcpus, 100, 0};
  state.apply({kNow, fact::JobSubmitted{JobId{Uuid{0, n}}, spec, {}}});
  decide(state);
  return JobId{Uuid{0, n}};
}

std::string status(const State& state, const JobId& id) { return status_name(*state.job(id)); }

TEST(MakeRoom, AnInstanceKeptForTheMinimumGivesWayToALargerOne) {
  State state = state_with(1, 4);
  decide(state);
  ASSERT_EQ(state.instance_vcpus_of("local"), 2000);
  const JobId id = submit(state, 1, 3000);
  EXPECT_EQ(status(state, id), "STARTING");
  EXPECT_EQ(state.instance_vcpus_of("local"), 4000);
  EXPECT_EQ(state.instances().size(), 1u);
}

TEST(MakeRoom, AnInstanceInUseStays) {
  State state = state_with(0, 4);
  const JobId small = submit(state, 1, 500);
  const JobId large = submit(state, 2, 3000);
  EXPECT_EQ(status(state, small), "STARTING");
  EXPECT_EQ(status(state, large), "RUNNABLE");
  EXPECT_EQ(state.instance_vcpus_of("local"), 2000);
}

TEST(MakeRoom, NothingEndsWhereTheRoomWouldNotDo) {
  State state = state_with(4, 6);  // two small instances are kept idle
  decide(state);
  ASSERT_EQ(state.instances().size(), 2u);
  submit(state, 1, 500);                       // takes one of them
  const JobId large = submit(state, 2, 3000);  // 6 - 2 in use = 4: the other makes room
  EXPECT_EQ(status(state, large), "STARTING");
  const JobId third = submit(state, 3, 3000);
  EXPECT_EQ(status(state, third), "RUNNABLE");
  EXPECT_EQ(state.instance_vcpus_of("local"), 6000);
}

}  // namespace
}  // namespace teson
