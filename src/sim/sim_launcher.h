// A launcher and the world of agents behind it, which survives the control plane's crashes as real agents do.
//
// The world holds the truth of each attempt: never launched, spawned, running, ended with a result, or dead. The
// launcher's process half (orders not carried out, stops to pass on, whom it watches) is lost with the control plane.
// Messages between the two are lost, doubled and delayed; a periodic sweep repeats what was lost, as the real one does.
//
// Thread: one. Reports go to the sink from events of the timeline, never from within a call.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_set>

#include "ports/launcher.h"
#include "sim/faults.h"
#include "sim/timeline.h"

namespace teson::sim {

// What the world's judge is told. Any of these may throw BrokenInvariant.
class AgentObserver {
 public:
  virtual ~AgentObserver() = default;
  virtual void agent_began(const LaunchOrder& order) = 0;
  virtual void agent_ended(const LaunchOrder& order) = 0;  // nothing of the attempt is alive any more
};

class SimLauncher final : public Launcher {
 public:
  struct Surroundings {
    Timeline& timeline;
    const Faults& faults;
    const Sabotage& sabotage;
    CrashPoints& crash_points;
    Coverage& coverage;
  };

  // What a program will do once it runs.
  struct Plan {
    Duration start_after = Duration::millis(10);
    Duration run = Duration::seconds(1);
    int exit_code = 0;
    bool out_of_memory = false;
    bool exec_fails = false;
    bool agent_dies = false;       // at the end of `run`, instead of a result
    bool ignores_sigterm = false;  // lives until the grace ends
  };
  using Planner = std::function<Plan(const LaunchOrder&)>;

  SimLauncher(ReportSink sink, Prng prng, Surroundings around);

  void observe(AgentObserver* observer) { observer_ = observer; }
  void plan_with(Planner planner) { planner_ = std::move(planner); }
  // By chance: most programs are short and succeed.
  Plan random_plan(const LaunchOrder& order);

  void launch(const LaunchOrder& order) override;
  void stop(const AttemptId& id, Duration grace) override;
  AttemptFinding settle(const AttemptId& id) override;
  void forget(std::span<const AttemptId> ids) override;

  // Begins the periodic sweep of a new control plane's launcher.
  void process_started();
  // The process half is gone, and so is every message on its way.
  void process_crashed();
  void reboot_host();
  // The agent of a running attempt dies now, its program perhaps not.
  void kill_agent(const AttemptId& id);

  bool alive(const AttemptId& id) const;
  size_t alive_count() const { return alive_; }
  // Attempts that the launcher still looks after: alive, or not yet forgotten. Those whose end was durable when the
  // control plane crashed are nobody's, as with the local launcher.
  size_t remembered() const;

 private:
  enum class Phase { kSpawned, kRunning, kEnded, kDead };
  struct Agent {
    LaunchOrder order;
    Plan plan;
    Phase phase = Phase::kSpawned;
    uint64_t serial = 0;  // events scheduled for an earlier agent of the same attempt are void
    bool program_alive = true;
    bool stopping = false;
    Instant started;
    Instant started_true;
    AttemptEnd end;
    std::string lost_detail;
  };

  void spawn(const LaunchOrder& order, Duration delay);
  bool must_wait(const LaunchOrder& order) const;
  void launch_followers(const AttemptId& ended);
  void begin_program(const AttemptId& id, uint64_t serial);
  void end_program(const AttemptId& id, uint64_t serial, EndCause cause, std::optional<int> exit_code);
  void terminate(Agent& agent, EndCause cause, Duration grace);
  void die(Agent& agent, std::string detail, bool program_survives);
  void reap(Agent& agent);
  void tell(const Agent& agent);
  void send(AttemptReport report);
  void sweep(uint64_t generation);
  Agent* current(const AttemptId& id, uint64_t serial);
  Duration up_to(Duration most) { return {static_cast<int64_t>(prng_.below(static_cast<uint64_t>(most.micros) + 1))}; }

  ReportSink sink_;
  Prng prng_;
  Surroundings around_;
  AgentObserver* observer_ = nullptr;
  Planner planner_;

  // The world.
  std::map<AttemptId, Agent> agents_;
  std::unordered_set<AttemptId, AttemptHash>
      directories_;  // of every attempt that was ever launched: forgetting prunes, and leaves it
  uint64_t spawned_ = 0;
  size_t alive_ = 0;

  // The process half.
  uint64_t generation_ = 0;
  std::map<AttemptId, LaunchOrder> orders_;
  std::map<AttemptId, Duration> stops_;
  std::set<AttemptId> watched_;
};

}  // namespace teson::sim
