#include "agent/oom_watch.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace teson {
namespace {

constexpr int kKilled = SIGKILL;
constexpr int kAborted = SIGABRT;
constexpr int kExitedWith0 = 0;
constexpr int kExitedWith137 = 137 << 8;

Duration at(int64_t millis) { return Duration::millis(1'000'000 + millis); }

TEST(OomEvidence, NoKillExplainsNothing) {
  const OomEvidence none;
  EXPECT_FALSE(none.explains(kKilled, at(0)));
  EXPECT_FALSE(none.explains(kExitedWith137, at(0)));
  EXPECT_EQ(none.earlier_kills_text(at(0)), "");
}

TEST(OomEvidence, AMainProgramThatWasNotSeenAliveAgainWasTheVictim) {
  OomEvidence evidence;
  evidence.count(1, at(0));
  EXPECT_FALSE(evidence.main_lives(at(4))) << "it may only not have died yet";
  EXPECT_TRUE(evidence.explains(kKilled, at(60'000))) << "much memory takes long to free";
}

TEST(OomEvidence, AMainProgramThatWasSeenAliveWasKilledBySomebodyElse) {
  OomEvidence evidence;
  evidence.count(1, at(0));
  EXPECT_TRUE(evidence.main_lives(at(5)));
  EXPECT_FALSE(evidence.main_lives(at(10))) << "told once";
  EXPECT_FALSE(evidence.explains(kKilled, at(10)));
  evidence.count(2, at(200));
  EXPECT_TRUE(evidence.explains(kKilled, at(201)));
  EXPECT_EQ(evidence.earlier_kills_text(at(3'400)),
            "the kernel had killed 2 of its processes for memory, the last one 3 s before");
}

// A loop that runs into the limit again and again.
TEST(OomEvidence, KillsThatFollowOneAnotherAreOutlivedOneByOne) {
  OomEvidence evidence;
  for (int i = 0; i < 10; ++i) {
    evidence.count(i + 1, at(3 * i));
    evidence.main_lives(at(3 * i));
  }
  EXPECT_TRUE(evidence.explains(kKilled, at(28))) << "the last two were not outlived yet";
  EXPECT_TRUE(evidence.main_lives(at(29)));
  EXPECT_TRUE(evidence.explains(kKilled, at(29)));
  EXPECT_TRUE(evidence.main_lives(at(32)));
  EXPECT_FALSE(evidence.explains(kKilled, at(32)));
}

TEST(OomEvidence, AFailureSoonAfterAProcessWasKilledIsLaidToThat) {
  OomEvidence evidence;
  evidence.count(1, at(0));
  evidence.main_lives(at(50));
  EXPECT_TRUE(evidence.explains(kExitedWith137, at(35'000)));
  EXPECT_TRUE(evidence.explains(kAborted, at(35'000)));
  EXPECT_FALSE(evidence.explains(kExitedWith137, at(35'001)));
  EXPECT_FALSE(evidence.explains(kAborted, at(35'001)));
  EXPECT_FALSE(evidence.explains(kExitedWith0, at(1)));
  EXPECT_FALSE(evidence.explains(SIGSEGV, at(1))) << "another signal has another cause";
  EXPECT_FALSE(evidence.explains(SIGTERM, at(1)));
}

}  // namespace
}  // namespace teson
