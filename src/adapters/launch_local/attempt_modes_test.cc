// What must hold in every arrangement of namespaces and control groups that a machine or user may permit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "adapters/launch_local/local_world_testing.h"
#include "attempt_dir/leftovers.h"

namespace teson {
namespace {

using testing::HasSubstr;

struct Mode {
  const char* name;
  const char* namespaces;  // TESON_AGENT_PIDNS
  const char* cgroups;     // TESON_AGENT_CGROUP
  bool nursery = true;
};

class AttemptInEveryMode : public testing::TestWithParam<Mode> {
 protected:
  std::string work(const LaunchOrder& order, const std::string& file) {
    return world_.paths(order.id).file(kWorkDirectory) + "/" + file;
  }
  bool wait_for_locks(const LaunchOrder& order, int count) {
    return world_.run_until([&] {
      for (int i = 1; i <= count; ++i) {
        if (!is_locked(work(order, "lock." + std::to_string(i)))) return false;
      }
      return true;
    });
  }
  int locks_held(const LaunchOrder& order, int count) {
    int held = 0;
    for (int i = 1; i <= count; ++i) held += is_locked(work(order, "lock." + std::to_string(i)));
    return held;
  }

  ScopedVariable namespaces_{"TESON_AGENT_PIDNS", GetParam().namespaces};
  ScopedVariable cgroups_{"TESON_AGENT_CGROUP", GetParam().cgroups};
  LocalWorld world_{{.use_nursery = GetParam().nursery}};
};

// Workers in sessions of their own which ignore SIGTERM, each holding a lock; `prefix` may clean the environment.
std::string stubborn_workers(int count, const std::string& prefix) {
  return "for i in $(seq " + std::to_string(count) + "); do " + prefix +
         " setsid sh -c 'trap \"\" TERM HUP; exec 9>lock.'$i'; flock 9; sleep 3600' & done; ";
}

TEST_P(AttemptInEveryMode, StubbornGrandchildrenAreGoneOneSecondAfterTheGrace) {
  const LaunchOrder order = world_.shell(stubborn_workers(8, "env -i PATH=$PATH") + "wait");
  world_.launch_and_wait_for_start(order);
  ASSERT_TRUE(wait_for_locks(order, 8));
  const auto asked = std::chrono::steady_clock::now();
  world_.launcher().stop(order.id, Duration::seconds(1));
  ASSERT_TRUE(world_.run_until([&] { return world_.end_of(order.id).has_value(); }));
  EXPECT_EQ(locks_held(order, 8), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - asked, std::chrono::seconds(2));
  const AttemptEnd end = *world_.end_of(order.id);
  EXPECT_EQ(end.cause, EndCause::kStopped);
  EXPECT_EQ(end.exit_code, 128 + 15);  // the shell itself did heed it
  EXPECT_EQ(end.reason,
            "killed by signal 15 (SIGTERM); some of its processes did not stop within 1 s of SIGTERM: killed");
}

TEST_P(AttemptInEveryMode, EndOfTheMainProgramEndsTheRestAtOnce) {
  const LaunchOrder order = world_.shell(stubborn_workers(3, "") +
                                         "until [ -e lock.1 ] && [ -e lock.2 ] && [ -e lock.3 ]; do :; done; exit 4");
  const AttemptEnd end = world_.run(order);
  EXPECT_EQ(end.cause, EndCause::kExited);
  EXPECT_EQ(end.exit_code, 4);
  EXPECT_EQ(locks_held(order, 3), 0);
}

TEST_P(AttemptInEveryMode, AProgramBelowAShellSeesSigterm) {
  // Not "exec": the shell stays the parent, and dies of SIGTERM before its child has finished saving.
  const LaunchOrder order = world_.shell(
      "sh -c 'trap \"sleep 0.2; echo saved > checkpoint; exit 0\" TERM; touch ready; while :; do sleep 0.01; done'; "
      "true");
  world_.launch_and_wait_for_start(order);
  ASSERT_TRUE(world_.run_until([&] { return is_present(work(order, "ready")); }));
  world_.launcher().stop(order.id, Duration::seconds(10));
  ASSERT_TRUE(world_.run_until([&] { return world_.end_of(order.id).has_value(); }));
  EXPECT_EQ(text_of(work(order, "checkpoint")), "saved\n");
  const AttemptEnd end = *world_.end_of(order.id);
  EXPECT_EQ(end.cause, EndCause::kStopped);
  EXPECT_EQ(end.reason, "killed by signal 15 (SIGTERM)");
}

TEST_P(AttemptInEveryMode, AKilledAgentTakesItsTreeAlongAndIsReportedLost) {
  const LaunchOrder order = world_.shell(stubborn_workers(4, "") + "wait");
  world_.launch_and_wait_for_start(order);
  ASSERT_TRUE(wait_for_locks(order, 4));
  world_.kill_agent(order.id);
  ASSERT_TRUE(world_.run_until([&] { return world_.loss_of(order.id).has_value(); }));
  EXPECT_EQ(locks_held(order, 4), 0);
  EXPECT_THAT(world_.loss_of(order.id)->detail, HasSubstr("is gone"));
  EXPECT_TRUE(processes_with_marker(attempt_marker(order.id)).empty());
}

TEST_P(AttemptInEveryMode, TheTimeoutEndsAProgramThatWillNot) {
  LaunchOrder order = world_.shell("trap '' TERM; while :; do sleep 1; done");
  order.timeout = Duration::seconds(1);  // long enough for the trap to be set
  order.grace = Duration::millis(500);
  const AttemptEnd end = world_.run(order);
  EXPECT_EQ(end.cause, EndCause::kTimedOut);
  EXPECT_EQ(end.exit_code, 128 + 9);
  EXPECT_EQ(end.status_reason, "Job attempt duration exceeded timeout");
  EXPECT_EQ(end.reason, "did not stop within 0.5 s of SIGTERM: killed");
  EXPECT_GE(end.usage.run, Duration::millis(1500));
  EXPECT_LT(end.usage.run, Duration::millis(2500));
}

TEST_P(AttemptInEveryMode, AStoppedProcessIsWokenToHeedSigterm) {
  const LaunchOrder order = world_.shell("touch ready; kill -STOP $$; sleep 3600");
  world_.launch_and_wait_for_start(order);
  ASSERT_TRUE(world_.run_until([&] { return is_present(work(order, "ready")); }));
  world_.launcher().stop(order.id, Duration::seconds(15));
  ASSERT_TRUE(world_.run_until([&] { return world_.end_of(order.id).has_value(); }));
  EXPECT_EQ(world_.end_of(order.id)->exit_code, 128 + 15);
}

TEST_P(AttemptInEveryMode, TimesAndExitCodeAreTheProgramsOwn) {
  const AttemptEnd end = world_.run(world_.order({"/usr/bin/python3", "-c",
                                                  "import time\nt = time.process_time\n"
                                                  "while t() < 0.3: pass\nraise SystemExit(7)"}));
  EXPECT_EQ(end.exit_code, 7);
  EXPECT_GE(end.usage.user_cpu + end.usage.system_cpu, Duration::millis(300));
  EXPECT_GE(end.usage.run, Duration::millis(300));
  EXPECT_GT(end.usage.peak_memory_bytes, 1 << 20);
}

INSTANTIATE_TEST_SUITE_P(Modes, AttemptInEveryMode,
                         testing::Values(Mode{"everything", "1", "all"}, Mode{"spawned_each", "1", "all", false},
                                         Mode{"namespace_only", "1", "none"}, Mode{"cgroups_only", "0", "all"},
                                         Mode{"cgroup_v1_only", "0", "v1"}, Mode{"cgroup_v2_only", "0", "v2"},
                                         Mode{"nothing", "0", "none"}),
                         [](const auto& mode) { return mode.param.name; });

}  // namespace
}  // namespace teson
