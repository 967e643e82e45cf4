// The end of a run: faults off, everything must come to rest, and what is left must have its reason.
#include <fmt/format.h>

#include <algorithm>

#include "core/explain/waiting.h"
#include "sim/simulation.h"

namespace teson::sim {

void Simulation::calm_down() {
  calm_ = true;
  faults_ = {};
  bool opened = prng_.chance(0.3);  // or some queues stay disabled, and their jobs wait with that reason
  const Instant deadline = timeline_.now() + Duration::seconds(12 * 3600);
  int quiet = 0;
  while (quiet < 2) {
    SIM_REQUIRE(timeline_.now() < deadline, "nothing came to rest: {} agents alive, {} attempts not forgotten, {}",
                launcher_.alive_count(), launcher_.remembered(),
                recovered_ ? idle_instance().value_or("no idle instance") : "the control plane does not come up");
    post_if_up(HoldInput{});
    if (recovered_ && !opened) {
      opened = true;
      workload_.open_everything();
    }
    timeline_.run_until(timeline_.now() + Duration::seconds(60));
    quiet = at_rest() ? quiet + 1 : 0;
  }
  check_touched();
  check_all();
  check_at_rest();
}

// One that no job uses and that its environment need not keep.
std::optional<std::string> Simulation::idle_instance() const {
  const State& state = controller_->state();
  for (const auto& [id, instance] : state.instances()) {
    if (instance.attempts > 0) continue;
    const ComputeEnvironment& environment = ledger_.environments().at(instance.value.environment);
    const int64_t rest = state.instance_vcpus_of(environment.name) - instance.value.size.milli_vcpus;
    if (environment.enabled && rest < environment.min_vcpus * 1000) continue;
    return fmt::format("instance {} of compute environment {} (minvCpus {}) idles", id.text(), environment.name,
                       environment.min_vcpus);
  }
  return std::nullopt;
}

bool Simulation::at_rest() const {
  if (!recovered_ || !inbox_.empty() || !workload_.idle() || launcher_.remembered() > 0) return false;
  if (idle_instance()) return false;
  return std::ranges::none_of(ledger_.live(), [this](const JobId& id) { return ledger_.find(id)->live.has_value(); });
}

void Simulation::check_at_rest() {
  SIM_REQUIRE(controller_->state().interrupted().empty(), "{} interrupted instances are left at the end",
              controller_->state().interrupted().size());
  SIM_REQUIRE(launcher_.alive_count() == 0, "{} agents are alive at the end", launcher_.alive_count());
  for (const JobId& id : ledger_.live()) check_job_at_rest(id);
}

// Whatever is not finished must have a reason that a person could act on.
void Simulation::check_job_at_rest(const JobId& id) {
  coverage_.met(Met::kHeldAtTheEnd);
  if (id.is_child()) return;  // its array answers for it
  const Job& job = *controller_->state().job(id);
  const std::string reason = waiting_reason(controller_->state(), job);
  SIM_REQUIRE(!reason.empty(), "job {} is {} at the end, without a reason", id.text(), status_name(job));
  if (std::holds_alternative<job_state::Pending>(job.state)) {
    const auto& needs = job.spec.depends_on;
    SIM_REQUIRE(std::ranges::any_of(needs, [this](const JobId& n) { return !ledger_.find(n)->finished(); }),
                "job {} waits at the end though all its dependencies have ended", id.text());
    return;
  }
  const QueueState& queue = controller_->state().queues().at(job.spec.queue);
  if (job.array) {
    const bool any_runnable = job.array->children.find(child::kRunnable) != std::string::npos;
    const auto& others = job.spec.array->n_to_n;
    const bool waits = std::ranges::any_of(others, [this](const JobId& n) { return ledger_.live().contains(n); });
    const bool held = std::ranges::any_of(queue.held, [&](const auto& at) { return at.second.parent() == id; });
    SIM_REQUIRE(any_runnable ? held || !queue.value.enabled : waits,
                "children of array {} could run and wait at the end, when nothing else does: {}", id.text(), reason);
    return;
  }
  SIM_REQUIRE(!queue.value.enabled || queue.held.contains(job.order),
              "job {} could run and waits at the end, when nothing else does: {}", id.text(), reason);
}

}  // namespace teson::sim
