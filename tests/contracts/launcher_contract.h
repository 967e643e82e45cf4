// What every Launcher promises (ports/launcher.h), as one suite over a fixture: the local launcher runs it with real
// processes, the simulated one in virtual time.
//
// Included by exactly one source file of a test program.
//
//   class LocalFixture final : public LauncherFixture { ... };
//   INSTANTIATE_TEST_SUITE_P(Local, LauncherContract, testing::Values(LauncherFactory{"local", make_local}));
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "contracts/launcher_fixture.h"

namespace teson {

struct LauncherFactory {
  std::string name;
  std::function<std::unique_ptr<LauncherFixture>()> make;

  friend std::ostream& operator<<(std::ostream& out, const LauncherFactory& factory) { return out << factory.name; }
};

class LauncherContract : public testing::TestWithParam<LauncherFactory> {
 protected:
  void SetUp() override { world_ = GetParam().make(); }

  LaunchOrder launch(ProgramKind kind) {
    LaunchOrder order = world_->order(kind);
    world_->launcher().launch(order);
    return order;
  }
  template <class Body>
  std::vector<Body> bodies(const AttemptId& id) {
    std::vector<Body> found;
    for (const AttemptReport& report : world_->reports()) {
      if (report.id != id) continue;
      if (const Body* body = std::get_if<Body>(&report.body)) found.push_back(*body);
    }
    return found;
  }
  template <class Body>
  bool wait_for(const AttemptId& id) {
    return world_->run_until([&] { return !bodies<Body>(id).empty(); });
  }
  AttemptEnd end_of(const AttemptId& id) {
    EXPECT_TRUE(wait_for<AttemptEndedReport>(id)) << "no end of " << id.text();
    const auto ends = bodies<AttemptEndedReport>(id);
    return ends.empty() ? AttemptEnd{} : ends.back().end;
  }

  bool has_started(const AttemptId& id) { return !bodies<AttemptStartedReport>(id).empty(); }
  bool has_ended(const AttemptId& id) { return !bodies<AttemptEndedReport>(id).empty(); }

  std::unique_ptr<LauncherFixture> world_;
};

TEST_P(LauncherContract, ReportsStartThenEndWithTheProgramsExitCode) {
  const LaunchOrder order = launch(ProgramKind::kFailsWith3);
  const AttemptEnd end = end_of(order.id);
  EXPECT_EQ(end.cause, EndCause::kExited);
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_EQ(end.status_reason, "Essential container in task exited");
  const auto starts = bodies<AttemptStartedReport>(order.id);
  ASSERT_GE(starts.size(), 1u);
  EXPECT_LE(starts[0].at, end.ended);
  const auto reports = world_->reports();
  ASSERT_GE(reports.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<AttemptStartedReport>(reports[0].body));
}

TEST_P(LauncherContract, ExitZeroIsReportedAsSuch) {
  const AttemptEnd end = end_of(launch(ProgramKind::kSucceeds).id);
  EXPECT_EQ(end.cause, EndCause::kExited);
  EXPECT_EQ(end.exit_code, 0);
}

TEST_P(LauncherContract, AnAbsentProgramEndsAsLaunchFailedWithoutExitCode) {
  const LaunchOrder order = launch(ProgramKind::kAbsent);
  const AttemptEnd end = end_of(order.id);
  EXPECT_EQ(end.cause, EndCause::kLaunchFailed);
  EXPECT_EQ(end.exit_code, std::nullopt);
  EXPECT_FALSE(end.reason.empty());
  EXPECT_TRUE(bodies<AttemptStartedReport>(order.id).empty());
}

TEST_P(LauncherContract, LaunchingTwiceStartsOnce) {
  const LaunchOrder order = launch(ProgramKind::kRunsForAnHour);
  world_->launcher().launch(order);
  ASSERT_TRUE(wait_for<AttemptStartedReport>(order.id));
  world_->launcher().launch(order);
  world_->launcher().stop(order.id, Duration::seconds(5));
  end_of(order.id);
  const auto starts = bodies<AttemptStartedReport>(order.id);
  for (const AttemptStartedReport& start : starts) EXPECT_EQ(start.at, starts[0].at);
}

TEST_P(LauncherContract, StopEndsTheAttemptAsStopped) {
  const LaunchOrder order = launch(ProgramKind::kRunsForAnHour);
  ASSERT_TRUE(wait_for<AttemptStartedReport>(order.id));
  world_->launcher().stop(order.id, Duration::seconds(5));
  const AttemptEnd end = end_of(order.id);
  EXPECT_EQ(end.cause, EndCause::kStopped);
  EXPECT_EQ(end.exit_code, 128 + 15);
}

TEST_P(LauncherContract, StopKillsWhatIgnoresItAfterTheGrace) {
  const LaunchOrder order = launch(ProgramKind::kIgnoresTerm);
  ASSERT_TRUE(wait_for<AttemptStartedReport>(order.id));
  ASSERT_TRUE(world_->run_until([&] { return world_->is_ready(order.id); }));
  world_->launcher().stop(order.id, Duration::seconds(1));
  world_->launcher().stop(order.id, Duration::seconds(3600));  // changes nothing
  const AttemptEnd end = end_of(order.id);
  EXPECT_EQ(end.cause, EndCause::kStopped);
  EXPECT_EQ(end.exit_code, 128 + 9);
  EXPECT_EQ(end.reason, "did not stop within 1 s of SIGTERM: killed");
}

TEST_P(LauncherContract, StopOfAnEndedAttemptDoesNotChangeItsEnd) {
  const LaunchOrder order = launch(ProgramKind::kFailsWith3);
  end_of(order.id);
  world_->launcher().stop(order.id, Duration::seconds(1));
  const AttemptFinding finding = world_->launcher().settle(order.id);
  ASSERT_TRUE(std::holds_alternative<AttemptEndedReport>(finding));
  EXPECT_EQ(std::get<AttemptEndedReport>(finding).end.exit_code, 3);
}

TEST_P(LauncherContract, OneThatWaitsForAnothersPlaceStartsWhenNothingOfThatIsLeft) {
  const LaunchOrder first = world_->order(ProgramKind::kRunsForAnHour);
  LaunchOrder second = world_->order(ProgramKind::kSucceeds);
  second.after = first.id;
  LaunchOrder third = world_->order(ProgramKind::kFailsWith3);
  third.after = second.id;
  world_->launcher().launch(first);
  world_->launcher().launch(second);
  world_->launcher().launch(third);
  ASSERT_TRUE(world_->run_until([&] { return has_started(first.id); }));
  EXPECT_FALSE(has_started(second.id) || has_ended(second.id));
  world_->launcher().stop(first.id, Duration::seconds(5));
  ASSERT_TRUE(world_->run_until([&] { return has_ended(third.id); }));
  EXPECT_EQ(end_of(second.id).exit_code, 0);
  EXPECT_EQ(end_of(third.id).exit_code, 3);
  EXPECT_GE(end_of(second.id).ended, end_of(first.id).ended);
  EXPECT_GE(end_of(third.id).ended, end_of(second.id).ended);
}

TEST_P(LauncherContract, OneThatWaitsAndIsStoppedLetsItsOwnFollowerWaitOn) {
  const LaunchOrder first = world_->order(ProgramKind::kRunsForAnHour);
  LaunchOrder second = world_->order(ProgramKind::kSucceeds);
  second.after = first.id;
  LaunchOrder third = world_->order(ProgramKind::kSucceeds);
  third.after = second.id;
  world_->launcher().launch(first);
  world_->launcher().launch(second);
  world_->launcher().launch(third);
  ASSERT_TRUE(world_->run_until([&] { return has_started(first.id); }));
  world_->launcher().stop(second.id, Duration::seconds(5));
  EXPECT_FALSE(has_started(third.id) || has_ended(third.id));
  world_->launcher().stop(first.id, Duration::seconds(5));
  ASSERT_TRUE(world_->run_until([&] { return has_ended(second.id) && has_ended(third.id); }));
  EXPECT_EQ(end_of(second.id).cause, EndCause::kStopped);
  EXPECT_EQ(end_of(third.id).exit_code, 0);
  EXPECT_GE(end_of(third.id).ended, end_of(first.id).ended);
}

TEST_P(LauncherContract, OneThatWaitsForWhatIsNotThereStartsAtOnce) {
  const LaunchOrder first = world_->order(ProgramKind::kSucceeds);
  world_->launcher().launch(first);
  ASSERT_TRUE(world_->run_until([&] { return has_ended(first.id); }));
  world_->launcher().forget({&first.id, 1});
  LaunchOrder second = world_->order(ProgramKind::kFailsWith3);
  second.after = first.id;
  world_->launcher().launch(second);
  ASSERT_TRUE(world_->run_until([&] { return has_ended(second.id); }));
  EXPECT_EQ(end_of(second.id).exit_code, 3);
}

TEST_P(LauncherContract, OneThatWaitedWhenTheLauncherDiedIsUnknownToTheNext) {
  const LaunchOrder first = world_->order(ProgramKind::kRunsForAnHour);
  LaunchOrder second = world_->order(ProgramKind::kSucceeds);
  second.after = first.id;
  world_->launcher().launch(first);
  world_->launcher().launch(second);
  ASSERT_TRUE(world_->run_until([&] { return has_started(first.id); }));
  world_->restart_launcher();
  EXPECT_TRUE(std::holds_alternative<AttemptAlive>(world_->launcher().settle(first.id)));
  EXPECT_TRUE(std::holds_alternative<AttemptUnknown>(world_->launcher().settle(second.id)));
  world_->launcher().launch(second);
  EXPECT_FALSE(has_started(second.id));
  world_->launcher().stop(first.id, Duration::seconds(5));
  ASSERT_TRUE(world_->run_until([&] { return has_ended(second.id); }));
  EXPECT_EQ(end_of(second.id).exit_code, 0);
}

TEST_P(LauncherContract, SettleKnowsNothingOfWhatWasNeverLaunched) {
  const LaunchOrder order = world_->order(ProgramKind::kSucceeds);
  EXPECT_TRUE(std::holds_alternative<AttemptUnknown>(world_->launcher().settle(order.id)));
}

TEST_P(LauncherContract, SettleAfterARestartReadoptsAndTheEndIsReported) {
  const LaunchOrder order = launch(ProgramKind::kRunsForAnHour);
  ASSERT_TRUE(wait_for<AttemptStartedReport>(order.id));
  world_->restart_launcher();
  const AttemptFinding finding = world_->launcher().settle(order.id);
  ASSERT_TRUE(std::holds_alternative<AttemptAlive>(finding));
  EXPECT_EQ(std::get<AttemptAlive>(finding).started, bodies<AttemptStartedReport>(order.id)[0].at);
  world_->launcher().stop(order.id, Duration::seconds(5));
  EXPECT_EQ(end_of(order.id).cause, EndCause::kStopped);
}

TEST_P(LauncherContract, AnEndThatNobodyWatchedIsFoundBySettle) {
  const LaunchOrder order = launch(ProgramKind::kFailsWith3);
  world_->restart_launcher();
  AttemptFinding finding;
  ASSERT_TRUE(world_->run_until([&] {
    finding = world_->launcher().settle(order.id);
    return std::holds_alternative<AttemptEndedReport>(finding);
  }));
  EXPECT_EQ(std::get<AttemptEndedReport>(finding).end.exit_code, 3);
}

TEST_P(LauncherContract, ADeadAgentIsReportedAsLost) {
  const LaunchOrder order = launch(ProgramKind::kRunsForAnHour);
  ASSERT_TRUE(wait_for<AttemptStartedReport>(order.id));
  world_->kill_agent(order.id);
  ASSERT_TRUE(wait_for<AttemptLostReport>(order.id));
  EXPECT_NE(bodies<AttemptLostReport>(order.id)[0].detail, "");
  EXPECT_TRUE(std::holds_alternative<AttemptLostReport>(world_->launcher().settle(order.id)));
}

TEST_P(LauncherContract, AnAgentThatDiedUnwatchedIsFoundLostBySettle) {
  const LaunchOrder order = launch(ProgramKind::kRunsForAnHour);
  ASSERT_TRUE(wait_for<AttemptStartedReport>(order.id));
  world_->restart_launcher();
  world_->kill_agent(order.id);
  AttemptFinding finding;
  ASSERT_TRUE(world_->run_until([&] {
    finding = world_->launcher().settle(order.id);
    return std::holds_alternative<AttemptLostReport>(finding);
  }));
}

TEST_P(LauncherContract, ForgettingAnEndedAttemptIsHarmlessTwice) {
  const LaunchOrder order = launch(ProgramKind::kSucceeds);
  end_of(order.id);
  const std::vector<AttemptId> ids = {order.id};
  world_->launcher().forget(ids);
  world_->launcher().forget(ids);
}

}  // namespace teson
