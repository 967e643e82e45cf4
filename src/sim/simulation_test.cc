#include "sim/simulation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

namespace teson::sim {
namespace {

// Sanitizers make a step some forty times dearer: fewer of them there, of the same kinds.
#ifdef TESON_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

class SimulationTest : public testing::Test {
 protected:
  void SetUp() override { spdlog::set_level(spdlog::level::off); }  // faults are expected here

  static Options options(uint64_t seed, uint64_t job_steps) {
    Options out;
    out.seed = seed;
    out.job_steps = job_steps;
    return out;
  }

  // What the judges say about the first seed in which the sabotage shows.
  static std::string caught(Sabotage sabotage) {
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      Options sabotaged = options(seed, 2000);
      sabotaged.sabotage = sabotage;
      const Report report = simulate(sabotaged);
      if (report.broken) return *report.broken;
    }
    return "nothing was noticed";
  }
};

TEST_F(SimulationTest, NothingBreaksInFortySeedsThatMeetEveryKindOfFaultAndFact) {
  Coverage coverage;
  const uint64_t steps = kSanitized ? 100 : 1000;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const Report report = simulate(options(seed, steps));
    ASSERT_FALSE(report.broken) << fmt::format("teson-sim --seed {} --steps {}: {}", seed, steps, *report.broken);
    coverage.add(report.coverage);
  }
  if (kSanitized) return;  // too short to meet them all
  for (const Met met : coverage.never()) ADD_FAILURE() << "never met: " << name_of(met);
}

TEST_F(SimulationTest, OneSeedGivesOneTrace) {
  for (uint64_t seed : {3, 11, 29}) {
    const Report first = simulate(options(seed, 500));
    const Report second = simulate(options(seed, 500));
    EXPECT_EQ(first.hash, second.hash) << seed;
    EXPECT_EQ(first.job_steps, second.job_steps);
    EXPECT_EQ(first.crash_points, second.crash_points);
  }
  EXPECT_NE(simulate(options(3, 100)).hash, simulate(options(4, 100)).hash);
}

TEST_F(SimulationTest, NothingBreaksWhereverTheProcessDies) {
  uint64_t points = 0;
  const Report report = simulate_crash_at_every_point(options(5, kSanitized ? 10 : 60), points);
  EXPECT_FALSE(report.broken) << "seed 5, crash point " << report.crash_at << ": " << *report.broken;
  EXPECT_GE(points, 60u);
  EXPECT_EQ(report.coverage.count(Met::kCrash), points);
}

TEST_F(SimulationTest, AJournalThatLosesAnAcknowledgedBatchIsCaught) {
  EXPECT_NE(caught({.journal_loses_a_batch = true}), "nothing was noticed");
}

TEST_F(SimulationTest, ALauncherThatLaunchesTwiceIsCaught) {
  EXPECT_NE(caught({.launcher_ignores_directories = true}).find("runs twice"), std::string::npos);
}

TEST_F(SimulationTest, AnEndReportedWhileTheProgramRunsIsCaught) {
  EXPECT_NE(caught({.launcher_reports_false_ends = true}).find("while its program runs"), std::string::npos);
}

TEST_F(SimulationTest, AttemptLostBeforeItsProcessesAreKilledIsCaught) {
  EXPECT_NE(caught({.launcher_says_lost_too_early = true}).find("while its program runs"), std::string::npos);
}

TEST_F(SimulationTest, ALauncherThatNeverRepeatsALostReportIsCaught) {
  EXPECT_NE(caught({.launcher_never_repeats = true}).find("nothing came to rest"), std::string::npos);
}

TEST_F(SimulationTest, AClientThatRepeatsASubmitBlindlyIsCaught) {
  EXPECT_NE(caught({.client_repeats_blindly = true}).find("submitted twice"), std::string::npos);
}

}  // namespace
}  // namespace teson::sim
