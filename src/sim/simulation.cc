#include "sim/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "codec/codec.h"
#include "sim/coverage.h"
#include "sim/fact_hash.h"

namespace teson::sim {
namespace {

constexpr size_t kMaxBatch = 100;         // as control/loop.cc
constexpr uint64_t kStepsPerAudit = 512;  // a look at every live job, not only at those touched
constexpr int kIdleWakes = 50;            // in a row, at one moment, without a fact: the loop would spin

Met kind_of(const FactBody& body) {
  constexpr std::array<Met, std::variant_size_v<FactBody>> kKinds = {
      Met::kEnvironmentPut,     Met::kEnvironmentDeleted, Met::kQueuePut,      Met::kQueueDeleted,
      Met::kDefinitionPut,      Met::kJobSubmitted,       Met::kJobTagged,     Met::kJobReady,
      Met::kInstanceStarted,    Met::kInstanceEnded,      Met::kAttemptPlaced, Met::kAttemptStarted,
      Met::kAttemptFailed,      Met::kStopRequested,      Met::kJobFailed,     Met::kChildrenFailed,
      Met::kPolicyPut,          Met::kPolicyDeleted,      Met::kConsumablePut, Met::kConsumableDeleted,
      Met::kInstanceInterrupted};
  if (const auto* ended = std::get_if<fact::AttemptEnded>(&body)) {
    if (ended->verdict == fact::Verdict::kRetry) return Met::kAttemptRetried;
    if (ended->verdict == fact::Verdict::kSucceeded) return Met::kAttemptSucceeded;
  }
  if (const auto* interrupted = std::get_if<fact::InstanceInterrupted>(&body); interrupted && interrupted->for_job) {
    return Met::kInstancePreempted;
  }
  return kKinds[body.index()];
}

}  // namespace

Instant Simulation::beginning() { return {1'700'000'000'000'000}; }

Site Simulation::random_site(uint64_t seed) {
  Prng prng(seed, "site");
  Site site;
  site.host.milli_vcpus = (static_cast<int64_t>(prng.below(30)) + 4) * 1000;
  site.host.memory_mib = (static_cast<int64_t>(prng.below(60)) + 4) * 1024;
  site.host.gpus = prng.chance(0.3) ? 0 : static_cast<int64_t>(prng.below(5));
  site.instance_idle = Duration::seconds(static_cast<int64_t>(prng.below(60)));
  site.preemption = prng.chance(0.8);
  return site;
}

// Each kind of fault is absent from half of the runs and of its own strength in the others: a world in which all goes
// wrong at once hides what one fault alone would show.
Faults Simulation::random_faults(const Options& options) {
  Faults f;
  if (!options.faults) return f;
  Prng prng(options.seed, "faults");
  const auto some = [&](double most) { return prng.chance(0.5) ? most * prng.uniform() : 0; };
  f.journal_refuses = some(0.004);
  f.journal_fails_unkept = some(0.002);
  f.journal_fails_kept = some(0.002);
  f.journal_unreadable = some(0.2);
  f.snapshot = 0.1 + some(0.5);
  f.launch_lost = some(0.05);
  f.launch_delayed = some(0.2);
  f.launch_doubled = some(0.1);
  f.stop_lost = some(0.5);
  f.report_lost = some(0.1);
  f.report_doubled = some(0.2);
  f.report_delayed = some(0.2);
  f.agent_dies = some(0.2);
  f.exec_fails = some(0.1);
  f.crash = options.crash_at == 0 ? some(0.0012) : 0;
  f.reboot = some(0.3);
  f.clock_set = some(0.9);
  f.starts_held = some(0.005);
  return f;
}

Simulation::Simulation(const Options& options)
    : options_(options),
      site_(random_site(options.seed)),
      prng_(options.seed, "simulation"),
      faults_(random_faults(options)),
      timeline_(beginning()),
      crash_points_(Prng(options.seed, "crashes"), faults_, coverage_),
      ledger_(site_),
      journal_(site_, Prng(options.seed, "journal"), {timeline_, faults_, options_.sabotage, crash_points_, coverage_}),
      launcher_([this](AttemptReport report) { post(std::move(report)); }, Prng(options.seed, "launcher"),
                {timeline_, faults_, options_.sabotage, crash_points_, coverage_}),
      judge_(ledger_, site_),
      workload_(Prng(options.seed, "workload"),
                {[this](Command&& c, CommandReply&& r) { return post_if_up(CommandInput{std::move(c), std::move(r)}); },
                 [this](auto question) { return post_if_up(QuestionInput{std::move(question)}); },
                 [this] { return journal_.last_failure_kept_nothing(); }},
                {timeline_, journal_, ledger_, options_.sabotage, coverage_, site_}) {
  crash_points_.crash_exactly_at(options.crash_at);
  launcher_.observe(&judge_);
  ledger_.ask_world_with([this](const AttemptId& id) { return launcher_.alive(id); });
  journal_.through_json(prng_.chance(0.1));
  journal_.on_kept([this](std::span<const Fact> facts, std::span<const Job> finished) {
    kept(facts);
    ledger_.take(facts, finished);
  });
  most_live_jobs_ = prng_.chance(0.1) ? 1000 : 20 + prng_.below(150);
  pace_ = Duration::millis(static_cast<int64_t>(prng_.below(300)) + 10);
}

Report Simulation::run() {
  Report report;
  try {
    begin();
    while (ledger_.job_steps() < options_.job_steps && !stalled()) timeline_.run_next();
    calm_down();
  } catch (const BrokenInvariant& broken) {
    report.broken =
        fmt::format("{} (virtual second {:.6f}, controller step {}, fact {}, crash point {})", broken.what,
                    (timeline_.now() - beginning()).micros / 1e6, steps_, facts_kept_, crash_points_.passed());
  }
  report.crash_at = options_.crash_at;
  report.job_steps = ledger_.job_steps();
  report.steps = steps_;
  report.crash_points = crash_points_.passed();
  report.hash = hash_;
  report.jobs = ledger_.submitted();
  report.coverage = coverage_;
  return report;
}

// An hour without a step. Whether that is right, the checks at the end tell.
bool Simulation::stalled() {
  if (ledger_.job_steps() != job_steps_seen_) {
    job_steps_seen_ = ledger_.job_steps();
    last_job_step_at_ = timeline_.now();
  }
  return timeline_.now() - last_job_step_at_ > Duration::seconds(3600);
}

void Simulation::begin() {
  restart();
  timeline_.after(Duration::millis(1), [this] { client_tick(); });
}

void Simulation::client_tick() {
  if (calm_) return;
  workload_.send_something(ledger_.live_jobs() < most_live_jobs_);
  if (prng_.chance(faults_.starts_held)) {
    coverage_.met(Met::kStartsHeld);
    post_if_up(HoldInput{"the disk is nearly full"});
    timeline_.after(Duration::seconds(20), [this] { post_if_up(HoldInput{}); });
  }
  timeline_.after({static_cast<int64_t>(prng_.below(static_cast<uint64_t>(2 * pace_.micros)))},
                  [this] { client_tick(); });
}

// ---- The control plane's process ----

void Simulation::restart() {
  timeline_.clock().restart_process();
  controller_ = std::make_unique<Controller>(journal_, launcher_, site_);
  recovered_ = false;
  launcher_.process_started();
  guarded([this] {
    const Status status = controller_->recover(timeline_.clock().now());
    if (status) {
      recovered_ = true;
    } else {
      die();  // the program says why and ends; its supervisor starts it again
    }
  });
  if (!recovered_) return;
  ++steps_;
  after_step(1);
}

void Simulation::die() {
  controller_.reset();
  recovered_ = false;
  inbox_.clear();
  wake_planned_.reset();
  launcher_.process_crashed();
  workload_.connection_lost();
  if (prng_.chance(faults_.reboot)) {
    coverage_.met(Met::kHostReboot);
    launcher_.reboot_host();
  }
  if (prng_.chance(faults_.clock_set)) {
    // Between an hour behind and an hour ahead.
    const Duration offset = timeline_.clock().wall() - timeline_.now();
    const Duration wanted = Duration::seconds(3600) * (static_cast<int64_t>(prng_.below(3)) - 1);
    if (wanted < offset) coverage_.met(Met::kClockSetBack);
    if (wanted > offset) coverage_.met(Met::kClockSetForward);
    timeline_.clock().set_wall(wanted - offset);
  }
  timeline_.after(Duration::millis(static_cast<int64_t>(prng_.below(3000)) + 20), [this] { restart(); });
}

// Runs the control plane's own code, in which it may crash.
void Simulation::guarded(const std::function<void()>& what) {
  crash_points_.arm(true);
  try {
    what();
    crash_points_.arm(false);
  } catch (const Crash&) {
    crash_points_.arm(false);
    coverage_.met(Met::kCrash);
    die();
  }
}

bool Simulation::post_if_up(Input&& input) {
  if (!recovered_) return false;
  post(std::move(input));
  return true;
}

void Simulation::post(Input&& input) {
  if (!controller_) return;
  inbox_.push_back(std::move(input));
  if (step_planned_) return;
  step_planned_ = true;
  timeline_.after(Duration{static_cast<int64_t>(prng_.below(500))}, [this] {
    step_planned_ = false;
    step();
  });
}

void Simulation::step() {
  if (!recovered_) return;
  std::vector<Input> batch;
  if (inbox_.size() <= kMaxBatch) {
    batch = std::exchange(inbox_, {});
  } else {
    const auto end = inbox_.begin() + kMaxBatch;
    batch.assign(std::move_iterator(inbox_.begin()), std::move_iterator(end));
    inbox_.erase(inbox_.begin(), end);
    step_planned_ = true;
    timeline_.after({}, [this] {
      step_planned_ = false;
      step();
    });
  }
  for (Input& input : batch) {
    // The answer leaves the process: it may die before and after each.
    if (auto* command = std::get_if<CommandInput>(&input)) {
      command->reply = [this, reply = std::move(command->reply)](Result<Accepted> result) {
        crash_points_.pass(Met::kCrashAmongReplies);
        reply(std::move(result));
      };
    }
  }
  ++steps_;
  const size_t inputs = batch.size();
  guarded([this, &batch] { controller_->step(timeline_.clock().now(), batch); });
  if (recovered_) after_step(inputs);
}

void Simulation::plan_wake(std::optional<Instant> wanted) {
  if (!wanted) return wake_planned_.reset();
  const VirtualClock& clock = timeline_.clock();
  const Instant at = std::max(timeline_.now() + (*wanted - clock.now()), timeline_.now());
  if (wake_planned_ && *wake_planned_ == at) return;
  wake_planned_ = at;
  timeline_.at(at, [this, at] {
    if (wake_planned_ != at) return;
    wake_planned_.reset();
    step();
  });
}

// ---- Checks ----

void Simulation::kept(std::span<const Fact> facts) {
  for (const Fact& fact : facts) {
    ++facts_kept_;
    hash_ = hash_on(hash_, fact);
    coverage_.met(kind_of(fact.body));
    if (options_.print_facts) {
      fmt::print("{:>14.6f} {:>6} {}\n", (timeline_.now() - beginning()).micros / 1e6, steps_, codec::encode(fact));
    }
  }
}

// After a failed commit the state holds what may not be durable, until it has been rebuilt; nothing may leave it.
bool Simulation::state_is_committed() const { return !controller_->trouble().starts_with("The journal"); }

void Simulation::after_step(size_t inputs) {
  const bool changed = facts_kept_ != facts_at_last_step_;
  facts_at_last_step_ = facts_kept_;
  if (state_is_committed()) {
    check_touched();
    if (steps_ % kStepsPerAudit == 0) check_all();
  }
  const auto wakeup = controller_->next_wakeup();
  const bool at_once = wakeup && *wakeup <= timeline_.clock().now();
  idle_wakes_ = inputs == 0 && !changed && at_once ? idle_wakes_ + 1 : 0;
  SIM_REQUIRE(idle_wakes_ < kIdleWakes, "the loop spins: it asks to be woken at once and then does nothing");
  plan_wake(wakeup);
}

void Simulation::check_touched() {
  const State& state = controller_->state();
  for (const JobId& id : ledger_.touched()) {
    const Job* job = state.job(id);
    if (job) {
      ledger_.compare(*job);
    } else {
      SIM_REQUIRE(ledger_.find(id)->finished(), "job {} is not finished and has left the state", id.text());
    }
  }
  ledger_.touched().clear();
  SIM_REQUIRE(state.job_count() == ledger_.live_jobs(), "the state holds {} live jobs of {}", state.job_count(),
              ledger_.live_jobs());
  SIM_REQUIRE(journal_.archived() == ledger_.archived_jobs(), "the archive holds {} finished jobs of {}",
              journal_.archived(), ledger_.archived_jobs());
  SIM_REQUIRE(state.host_used() == ledger_.host_used(), "the state counts {} in use, the facts {}",
              resources_text(state.host_used()), resources_text(ledger_.host_used()));
  SIM_REQUIRE(state.instances().size() == ledger_.instance_count(), "the state holds {} instances of {}",
              state.instances().size(), ledger_.instance_count());
  SIM_REQUIRE(state.next_order() == ledger_.next_order(), "the next order is {}, by the submits it is {}",
              state.next_order(), ledger_.next_order());
}

void Simulation::check_all() {
  for (const JobId& id : ledger_.live()) {
    const Job* job = controller_->state().job(id);
    SIM_REQUIRE(job, "job {} was acknowledged and is gone", id.text());
    ledger_.compare(*job);
  }
}

Report simulate(const Options& options) { return Simulation(options).run(); }

Report simulate_crash_at_every_point(Options options, uint64_t& last_point) {
  options.crash_at = 0;
  options.faults = false;
  Report sum = simulate(options);
  last_point = sum.crash_points;
  const uint64_t hash = sum.hash;
  for (uint64_t point = 1; point <= last_point && !sum.broken; ++point) {
    options.crash_at = point;
    Report one = simulate(options);
    one.coverage.add(sum.coverage);
    one.job_steps += sum.job_steps;
    one.steps += sum.steps;
    one.jobs += sum.jobs;
    sum = std::move(one);
  }
  if (!sum.broken) sum.hash = hash;
  return sum;
}

}  // namespace teson::sim
