// wait, history and explain, from the words typed to what is printed.
#include <gtest/gtest.h>

#include "cli/cli_testing.h"

namespace teson::cli {
namespace {

void end_with(FakeBatch& fake, int exit_code) {
  fake.detail["status"] = exit_code == 0 ? "SUCCEEDED" : "FAILED";
  fake.detail["statusReason"] = "Essential container in task exited";
  fake.detail["container"] = Json::object({{"exitCode", exit_code}});
  fake.detail["stoppedAt"] = 2;
}

TEST_F(Cli, WaitReturnsTheFailedJobsExitCodeAndSurvivesAServerThatIsAway) {
  FakeBatch batch([](FakeBatch& fake, int describes) {
    if (describes == 1) fake.hang_up = 2;
    if (describes >= 3) end_with(fake, 3);
  });
  attach(batch);
  const Ran ran = run({"wait", FakeBatch::kJob});
  EXPECT_EQ(ran.code, 3) << ran.err;
  EXPECT_NE(ran.out.find("FAILED"), std::string::npos);
  EXPECT_NE(ran.err.find("the server is back"), std::string::npos) << ran.err;
}

TEST_F(Cli, WaitOfASuccessIsZeroAndSoIsAny) {
  FakeBatch batch([](FakeBatch& fake, int) { end_with(fake, 0); });
  attach(batch);
  EXPECT_EQ(run({"wait", FakeBatch::kJob, FakeBatch::kJob}).code, 0);
  EXPECT_EQ(run({"wait", "--any", FakeBatch::kJob}).code, 0);
}

TEST_F(Cli, WaitExitsWith124AtItsTimeout) {
  FakeBatch batch([](FakeBatch&, int) {});
  attach(batch);
  const Ran ran = run({"wait", "--timeout", "1s", FakeBatch::kJob});
  EXPECT_EQ(ran.code, 124);
  EXPECT_NE(ran.err.find("--timeout 1s is over; the jobs go on"), std::string::npos);
  EXPECT_EQ(run({"wait", "--timeout", "soon", FakeBatch::kJob}).code, 252);
}

TEST_F(Cli, HistoryTakesOnlyFinishedStatuses) {
  EXPECT_EQ(run({"history", "--status", "running"}).code, 252);
  EXPECT_EQ(run({"history", "--since", "yesterday"}).code, 252);
}

}  // namespace
}  // namespace teson::cli
