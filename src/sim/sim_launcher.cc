#include "sim/sim_launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace teson::sim {
namespace {

constexpr Duration kSweep = Duration::seconds(10);
constexpr int kSigkill = 128 + 9;
constexpr int kSigterm = 128 + 15;

}  // namespace

SimLauncher::SimLauncher(ReportSink sink, Prng prng, Surroundings around)
    : sink_(std::move(sink)), prng_(prng), around_(around) {
  planner_ = [this](const LaunchOrder& order) { return random_plan(order); };
}

SimLauncher::Plan SimLauncher::random_plan(const LaunchOrder& order) {
  Plan plan;
  plan.start_after = Duration::millis(1) + up_to(Duration::millis(40));
  plan.run = prng_.chance(0.2) ? up_to(Duration::millis(20)) : up_to(Duration::seconds(8));
  // Every second array is one of small tasks.
  if (order.id.job.is_child() && order.id.job.uuid.low % 2 == 0) plan.run = up_to(Duration::millis(20));
  plan.out_of_memory = prng_.chance(0.05);
  plan.exit_code = prng_.chance(0.25) ? static_cast<int>(prng_.below(20)) : 0;
  plan.exec_fails = prng_.chance(around_.faults.exec_fails);
  plan.agent_dies = prng_.chance(around_.faults.agent_dies);
  plan.ignores_sigterm = prng_.chance(0.2);
  return plan;
}

SimLauncher::Agent* SimLauncher::current(const AttemptId& id, uint64_t serial) {
  const auto found = agents_.find(id);
  return found != agents_.end() && found->second.serial == serial ? &found->second : nullptr;
}

bool SimLauncher::alive(const AttemptId& id) const {
  const auto found = agents_.find(id);
  return found != agents_.end() && found->second.program_alive;
}

size_t SimLauncher::remembered() const {
  return static_cast<size_t>(std::ranges::count_if(
      agents_, [this](const auto& agent) { return agent.second.program_alive || watched_.contains(agent.first); }));
}

// ---- The port ----

void SimLauncher::launch(const LaunchOrder& order) {
  around_.crash_points.pass(Met::kCrashAmongEffects);
  watched_.insert(order.id);
  if (directories_.contains(order.id) || orders_.contains(order.id)) return around_.coverage.met(Met::kLaunchRepeated);
  if (must_wait(order)) {
    around_.coverage.met(Met::kLaunchBehind);
    orders_.emplace(order.id, order);
    return around_.crash_points.pass(Met::kCrashAmongEffects);
  }
  if (prng_.chance(around_.faults.launch_lost)) {
    around_.coverage.met(Met::kLaunchLost);
    orders_.emplace(order.id, order);  // until the sweep
  } else if (prng_.chance(around_.faults.launch_delayed)) {
    around_.coverage.met(Met::kLaunchDelayed);
    if (prng_.chance(0.5)) {
      // Forked, but slow to begin: it goes on even if its parent dies meanwhile.
      spawn(order, up_to(Duration::seconds(3)));
    } else {
      orders_.emplace(order.id, order);
      around_.timeline.after(up_to(Duration::seconds(3)), [this, id = order.id, generation = generation_] {
        const auto found = orders_.find(id);
        if (generation == generation_ && found != orders_.end() && !must_wait(found->second)) {
          spawn(LaunchOrder(found->second), {});
        }
      });
    }
  } else {
    spawn(order, {});
    if (prng_.chance(around_.faults.launch_doubled)) {
      around_.timeline.after(up_to(Duration::millis(500)), [this, order] { spawn(order, {}); });
    }
  }
  around_.crash_points.pass(Met::kCrashAmongEffects);
}

void SimLauncher::stop(const AttemptId& id, Duration grace) {
  around_.crash_points.pass(Met::kCrashAmongEffects);
  stops_.insert_or_assign(id, grace);
  if (prng_.chance(around_.faults.stop_lost)) {
    around_.coverage.met(Met::kStopLost);  // until the sweep
  } else if (const auto found = agents_.find(id); found != agents_.end()) {
    terminate(found->second, EndCause::kStopped, grace);
  }
  around_.crash_points.pass(Met::kCrashAmongEffects);
}

AttemptFinding SimLauncher::settle(const AttemptId& id) {
  around_.crash_points.pass(Met::kCrashInRecovery);
  watched_.insert(id);
  const auto found = agents_.find(id);
  if (found == agents_.end()) {
    around_.coverage.met(Met::kFoundUnknown);
    return AttemptUnknown{};
  }
  Agent& agent = found->second;
  switch (agent.phase) {
    case Phase::kSpawned:
      around_.coverage.met(Met::kFoundAlive);
      return AttemptAlive{};
    case Phase::kRunning:
      if (around_.sabotage.launcher_says_lost_too_early) return AttemptLostReport{around_.timeline.clock().wall(), "?"};
      around_.coverage.met(Met::kFoundAlive);
      return AttemptAlive{agent.started};
    case Phase::kEnded:
      around_.coverage.met(Met::kFoundEnded);
      return AttemptEndedReport{agent.end};
    case Phase::kDead:
      break;
  }
  reap(agent);
  around_.coverage.met(Met::kFoundLost);
  return AttemptLostReport{around_.timeline.clock().wall(), agent.lost_detail};
}

void SimLauncher::forget(std::span<const AttemptId> ids) {
  around_.crash_points.pass(Met::kCrashAmongEffects);
  for (const AttemptId& id : ids) {
    if (alive(id)) throw BrokenInvariant{fmt::format("attempt {} is forgotten while it runs", id.text())};
    orders_.erase(id);
    stops_.erase(id);
    watched_.erase(id);
    agents_.erase(id);
  }
}

// What it is to follow has been ordered and is not over: alive, or not begun.
bool SimLauncher::must_wait(const LaunchOrder& order) const {
  return order.after && (alive(*order.after) || orders_.contains(*order.after));
}

void SimLauncher::launch_followers(const AttemptId& ended) {
  const auto orders = orders_;
  for (const auto& [id, order] : orders) {
    if (order.after == ended) spawn(order, {});
  }
}

// ---- The world ----

void SimLauncher::spawn(const LaunchOrder& order, Duration delay) {
  if (!directories_.insert(order.id).second && !around_.sabotage.launcher_ignores_directories) {
    return around_.coverage.met(Met::kLaunchRepeated);
  }
  Agent agent;
  agent.order = order;
  agent.plan = planner_(order);
  agent.serial = ++spawned_;
  const AttemptId id = order.id;
  const uint64_t serial = agent.serial;
  const Duration start_after = delay + agent.plan.start_after;
  orders_.erase(id);
  if (observer_) observer_->agent_began(agent.order);
  ++alive_;
  Agent& kept = agents_.insert_or_assign(id, std::move(agent)).first->second;
  around_.timeline.after(start_after, [this, id, serial, generation = generation_] {
    if (generation != generation_ && current(id, serial)) around_.coverage.met(Met::kLaunchDelayedPastCrash);
    begin_program(id, serial);
  });
  if (const auto stop = stops_.find(id); stop != stops_.end()) terminate(kept, EndCause::kStopped, stop->second);
}

void SimLauncher::begin_program(const AttemptId& id, uint64_t serial) {
  Agent* agent = current(id, serial);
  if (!agent || agent->phase != Phase::kSpawned) return;
  if (agent->plan.exec_fails) {
    around_.coverage.met(Met::kExecFailed);
    return end_program(id, serial, EndCause::kLaunchFailed, std::nullopt);
  }
  agent->phase = Phase::kRunning;
  agent->started = around_.timeline.clock().wall();
  agent->started_true = around_.timeline.now();
  tell(*agent);
  if (around_.sabotage.launcher_reports_false_ends && prng_.chance(0.01)) {
    AttemptEnd end;
    end.ended = agent->started;
    send({id, AttemptEndedReport{end}});
  }
  const Plan& plan = agent->plan;
  if (agent->order.timeout && plan.run > *agent->order.timeout) {
    around_.timeline.after(*agent->order.timeout, [this, id, serial] {
      Agent* late = current(id, serial);
      if (late && late->phase == Phase::kRunning) terminate(*late, EndCause::kTimedOut, late->order.grace);
    });
  }
  around_.timeline.after(plan.run, [this, id, serial] {
    Agent* done = current(id, serial);
    if (!done || done->phase != Phase::kRunning) return;
    if (done->plan.agent_dies) {
      die(*done, "its agent is gone", prng_.chance(0.5));
    } else if (done->plan.out_of_memory) {
      end_program(id, serial, EndCause::kOutOfMemory, kSigkill);
    } else {
      end_program(id, serial, done->stopping ? EndCause::kStopped : EndCause::kExited, done->plan.exit_code);
    }
  });
}

// SIGTERM now; SIGKILL when the grace is over.
void SimLauncher::terminate(Agent& agent, EndCause cause, Duration grace) {
  if (agent.stopping || agent.phase == Phase::kEnded || agent.phase == Phase::kDead) return;
  agent.stopping = true;
  const bool stubborn = agent.phase == Phase::kRunning && agent.plan.ignores_sigterm;
  if (stubborn) around_.coverage.met(Met::kSigtermIgnored);
  const Duration until = stubborn ? grace : std::min(grace, up_to(Duration::millis(300)));
  around_.timeline.after(until, [this, id = agent.order.id, serial = agent.serial, cause, stubborn, grace] {
    Agent* ending = current(id, serial);
    if (!ending) return;
    const bool ran = ending->phase == Phase::kRunning;
    if (stubborn)
      ending->end.reason = fmt::format("did not stop within {} s of SIGTERM: killed", grace.whole_seconds());
    end_program(id, serial, cause, ran ? std::optional(stubborn ? kSigkill : kSigterm) : std::nullopt);
  });
}

void SimLauncher::end_program(const AttemptId& id, uint64_t serial, EndCause cause, std::optional<int> exit_code) {
  Agent* agent = current(id, serial);
  if (!agent || agent->phase == Phase::kEnded || agent->phase == Phase::kDead) return;
  AttemptEnd& end = agent->end;
  end.cause = cause;
  end.exit_code = exit_code;
  end.ended = around_.timeline.clock().wall();
  end.status_reason = "Essential container in task exited";
  if (agent->phase == Phase::kRunning) end.usage.run = around_.timeline.now() - agent->started_true;
  if (cause == EndCause::kOutOfMemory) {
    around_.coverage.met(Met::kOutOfMemory);
    end.reason = "OutOfMemoryError: Container killed due to memory usage";
  } else if (cause == EndCause::kTimedOut) {
    around_.coverage.met(Met::kTimedOut);
    end.status_reason = "Job attempt duration exceeded timeout";
  } else if (cause == EndCause::kLaunchFailed) {
    end.status_reason = "Task failed to start";
    end.reason = "CannotStartContainerError: no such program";
  }
  agent->phase = Phase::kEnded;
  reap(*agent);
  tell(*agent);
  launch_followers(id);
}

void SimLauncher::die(Agent& agent, std::string detail, bool program_survives) {
  agent.phase = Phase::kDead;
  agent.lost_detail = std::move(detail);
  around_.coverage.met(Met::kAgentDied);
  if (!program_survives) reap(agent);
  // Its watcher sees the agent go, kills what it left, and reports.
  around_.timeline.after(up_to(Duration::millis(200)), [this, id = agent.order.id, serial = agent.serial] {
    Agent* dead = current(id, serial);
    if (!dead || !watched_.contains(id)) return;
    reap(*dead);
    tell(*dead);
    launch_followers(id);
  });
}

// Kills whatever of the attempt is left.
void SimLauncher::reap(Agent& agent) {
  if (!agent.program_alive) return;
  if (agent.phase == Phase::kDead) around_.coverage.met(Met::kOrphanKilled);
  agent.program_alive = false;
  --alive_;
  if (observer_) observer_->agent_ended(agent.order);
}

void SimLauncher::kill_agent(const AttemptId& id) {
  const auto found = agents_.find(id);
  if (found != agents_.end() && found->second.phase == Phase::kRunning) die(found->second, "its agent is gone", true);
}

void SimLauncher::reboot_host() {
  for (auto& [id, agent] : agents_) {
    if (agent.phase == Phase::kEnded) continue;
    const bool was_alive = agent.phase != Phase::kDead;
    agent.phase = Phase::kEnded;  // a reboot leaves no orphans
    reap(agent);
    agent.phase = Phase::kDead;
    if (was_alive) agent.lost_detail = "the host was rebooted";
  }
}

// ---- Messages and the process half ----

void SimLauncher::tell(const Agent& agent) {
  if (!watched_.contains(agent.order.id)) return;
  const AttemptId id = agent.order.id;
  if (agent.phase == Phase::kRunning) send({id, AttemptStartedReport{agent.started}});
  if (agent.phase == Phase::kEnded) send({id, AttemptEndedReport{agent.end}});
  if (agent.phase == Phase::kDead) send({id, AttemptLostReport{around_.timeline.clock().wall(), agent.lost_detail}});
}

void SimLauncher::send(AttemptReport report) {
  const Faults& faults = around_.faults;
  if (prng_.chance(faults.report_lost)) return around_.coverage.met(Met::kReportLost);
  const int copies = prng_.chance(faults.report_doubled) ? 2 : 1;
  if (copies == 2) around_.coverage.met(Met::kReportDoubled);
  for (int i = 0; i < copies; ++i) {
    Duration delay = up_to(Duration::millis(1));
    if (prng_.chance(faults.report_delayed)) {
      around_.coverage.met(Met::kReportDelayed);
      delay = up_to(Duration::seconds(5));
    }
    around_.timeline.after(delay, [this, report, generation = generation_]() mutable {
      if (generation == generation_) sink_(std::move(report));
    });
  }
}

void SimLauncher::process_started() {
  around_.timeline.after(kSweep, [this, generation = generation_] { sweep(generation); });
}

// Repeats whatever may have been lost: launches, stops, and the word of attempts that are not forgotten yet.
void SimLauncher::sweep(uint64_t generation) {
  if (generation != generation_) return;
  if (!around_.sabotage.launcher_never_repeats) {
    const auto orders = orders_;
    for (const auto& [id, order] : orders) {
      if (!must_wait(order)) spawn(order, {});
    }
    for (const auto& [id, grace] : stops_) {
      if (const auto found = agents_.find(id); found != agents_.end())
        terminate(found->second, EndCause::kStopped, grace);
    }
    for (auto& [id, agent] : agents_) {
      if (!watched_.contains(id) || agent.phase == Phase::kSpawned) continue;
      if (agent.phase == Phase::kRunning && !prng_.chance(0.1)) continue;  // a start is seldom news
      if (agent.phase == Phase::kDead) reap(agent);
      around_.coverage.met(Met::kReportRepeatedBySweep);
      tell(agent);
    }
  }
  process_started();
}

void SimLauncher::process_crashed() {
  ++generation_;
  orders_.clear();
  stops_.clear();
  watched_.clear();
}

}  // namespace teson::sim
