// How badly the world treats the control plane in one run, and the two ways in which a run stops early.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "base/prng.h"
#include "base/time.h"
#include "domain/ids.h"
#include "sim/coverage.h"

namespace teson::sim {

// A checker's word: what is broken, and where. Thrown through the code under test up to the simulation's own loop.
struct BrokenInvariant {
  std::string what;
};

// A macro, since the words must cost nothing while all is well.
#define SIM_REQUIRE(holds, ...)   \
  if (static_cast<bool>(holds)) { \
  } else                          \
    throw ::teson::sim::BrokenInvariant { fmt::format(__VA_ARGS__) }

// The control plane's process ends here and now. Thrown out of a port's call in the midst of a step: all that the
// process held is destroyed, all that had left it stays.
struct Crash {};

struct AttemptHash {
  size_t operator()(const AttemptId& id) const noexcept {
    return std::hash<JobId>()(id.job) + static_cast<size_t>(id.number) * 0x9E3779B97F4A7C15ULL;
  }
};

// Chances per call or message. All zero: a world without faults.
struct Faults {
  double journal_refuses = 0;       // kUnavailable, nothing kept
  double journal_fails_unkept = 0;  // another error, nothing kept
  double journal_fails_kept = 0;    // another error, though the batch is durable
  double journal_unreadable = 0;    // load() begins to fail, for up to five seconds
  double snapshot = 0;              // load() first folds some facts into the snapshot
  double launch_lost = 0;
  double launch_delayed = 0;
  double launch_doubled = 0;
  double stop_lost = 0;
  double report_lost = 0;
  double report_doubled = 0;
  double report_delayed = 0;
  double agent_dies = 0;   // per attempt
  double exec_fails = 0;   // per attempt
  double crash = 0;        // per crash point
  double reboot = 0;       // per crash: the whole host goes down with it
  double clock_set = 0;    // per crash: the wall clock is set by an hour meanwhile
  double starts_held = 0;  // per client command: the disk fills for a while
};

// Faults that no port permits: they prove that the checkers see. Off but in tests.
struct Sabotage {
  bool journal_loses_a_batch = false;         // the last one before a load is gone, though acknowledged
  bool launcher_ignores_directories = false;  // a doubled launch starts a second agent
  bool launcher_reports_false_ends = false;   // an end is reported while the program runs
  bool launcher_says_lost_too_early = false;  // AttemptLost before the processes are killed
  bool launcher_never_repeats = false;        // no sweep: a lost report is lost for ever
  bool client_repeats_blindly = false;        // a submit is sent again without asking what became of the first
};

// Every place where the control plane may die: each call out of it is one, before and after.
class CrashPoints {
 public:
  CrashPoints(Prng prng, const Faults& faults, Coverage& coverage)
      : prng_(prng), faults_(faults), coverage_(coverage) {}

  // `exactly`: crash at that point, counted from 1; 0: only by chance.
  void crash_exactly_at(uint64_t point) { exactly_ = point; }
  uint64_t passed() const { return passed_; }
  // Nothing outside the control plane's own code can crash it.
  void arm(bool on) { armed_ = on; }

  void pass(Met where) {
    if (!armed_) return;
    ++passed_;
    // Recoveries are few: each must meet crashes of its own.
    const double chance = where == Met::kCrashInRecovery ? 20 * faults_.crash : faults_.crash;
    if (passed_ != exactly_ && (chance == 0 || !prng_.chance(chance))) return;
    coverage_.met(where);
    throw Crash{};
  }

 private:
  Prng prng_;
  const Faults& faults_;
  Coverage& coverage_;
  uint64_t exactly_ = 0;
  uint64_t passed_ = 0;
  bool armed_ = false;
};

}  // namespace teson::sim
