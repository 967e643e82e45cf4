// One seeded run: the production Controller under virtual time, between clients and agents that do their worst.
//
// The controller is destroyed and recovered as a process would be; journal, archive and agents survive. After every
// step independent judges (ledger.h, world_judge.h) compare what was promised with what is. At the end the faults are
// switched off and everything must come to rest. One seed gives one trace, bit for bit, in one build.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/controller.h"
#include "sim/fact_hash.h"
#include "sim/faults.h"
#include "sim/ledger.h"
#include "sim/sim_journal.h"
#include "sim/sim_launcher.h"
#include "sim/timeline.h"
#include "sim/workload.h"
#include "sim/world_judge.h"

namespace teson::sim {

struct Options {
  uint64_t seed = 1;
  uint64_t job_steps = 10'000;  // facts that change a job; then the world calms down and the run ends
  bool faults = true;           // false: only the crash of `crash_at`, if any
  uint64_t crash_at = 0;        // crash at this crash point of the run (1: the first); 0: by chance
  Sabotage sabotage;
  bool print_facts = false;  // each fact as it becomes durable, to standard output
};

struct Report {
  std::optional<std::string> broken;  // what, and at which moment of the run
  uint64_t crash_at = 0;              // the crash point asked for, if any
  uint64_t job_steps = 0;
  uint64_t steps = 0;  // of the controller
  uint64_t crash_points = 0;
  uint64_t hash = 0;  // of every durable fact, in order
  size_t jobs = 0;
  Coverage coverage;
};

Report simulate(const Options& options);

// The same short run again and again, with a crash at its first crash point, its second, ... The first broken run is
// returned; otherwise the sum of all, with the hash of the run without a crash. `last_point` tells how many there were.
Report simulate_crash_at_every_point(Options options, uint64_t& last_point);

class Simulation {
 public:
  explicit Simulation(const Options& options);
  Report run();

 private:
  static Site random_site(uint64_t seed);
  static Faults random_faults(const Options& options);
  static Instant beginning();

  void begin();
  bool stalled();
  void calm_down();
  void client_tick();
  void restart();
  void die();
  void step();
  void wake();
  void post(Input&& input);
  bool post_if_up(Input&& input);
  void guarded(const std::function<void()>& what);
  void plan_wake(std::optional<Instant> wanted);
  void after_step(size_t inputs);
  void kept(std::span<const Fact> facts);
  void check_touched();
  void check_all();
  void check_at_rest();
  void check_job_at_rest(const JobId& id);
  bool at_rest() const;
  std::optional<std::string> idle_instance() const;
  bool state_is_committed() const;

  Options options_;
  Site site_;
  Prng prng_;
  Faults faults_;
  Coverage coverage_;
  Timeline timeline_;
  CrashPoints crash_points_;
  Ledger ledger_;
  SimJournal journal_;
  SimLauncher launcher_;
  WorldJudge judge_;
  Workload workload_;

  std::unique_ptr<Controller> controller_;
  bool recovered_ = false;
  std::vector<Input> inbox_;
  bool step_planned_ = false;
  std::optional<Instant> wake_planned_;
  bool calm_ = false;
  size_t most_live_jobs_ = 0;
  Duration pace_;
  uint64_t steps_ = 0;
  uint64_t facts_kept_ = 0;
  uint64_t facts_at_last_step_ = 0;
  int idle_wakes_ = 0;
  uint64_t job_steps_seen_ = 0;
  Instant last_job_step_at_ = beginning();
  uint64_t hash_ = kFirstHash;
};

}  // namespace teson::sim
