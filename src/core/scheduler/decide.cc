#include "core/scheduler/decide.h"

#include "core/explain/fit.h"
#include "core/scheduler/fair_share.h"
#include "core/scheduler/look_ahead.h"
#include "core/scheduler/placement.h"
#include "core/scheduler/preemption.h"
#include "core/scheduler/time_limits.h"
#include "core/state/state.h"

namespace teson {
namespace {

std::optional<FactBody> settle_dependent(const State& state) {
  if (!state.doomed_dependents().empty()) {
    const auto& [id, reason] = *state.doomed_dependents().begin();
    return fact::JobFailed{id, reason};
  }
  if (!state.ready_dependents().empty()) return fact::JobReady{*state.ready_dependents().begin()};
  return std::nullopt;
}

std::optional<FactBody> delete_empty_queue(const State& state) {
  for (const auto& [name, queue] : state.queues()) {
    if (queue.value.deleting && queue.jobs.empty()) return fact::QueueDeleted{name};
  }
  return std::nullopt;
}

std::optional<FactBody> place_next(const State& state, Instant now) {
  for (const QueueState* queue : state.queues_by_priority()) {
    const auto next = queue->value.enabled ? next_in_turn(state, *queue, now) : std::nullopt;
    if (!next) continue;
    const Candidate job = state.candidate(*next);
    if (kept_by_reservation(state, *queue, *job.spec)) continue;
    if (auto placed = place(state, *queue, job, now)) return placed;
    if (auto placed = place_behind(state, *queue, job, now)) return placed;
    if (auto interrupted = preempt(state, *queue, job, now)) return interrupted;
  }
  return std::nullopt;
}

// Calls `use(instance, from)` for each instance that its environment need not keep, with the moment from which it may
// go. By environment, then by id.
template <class Use>
void for_each_spare(const State& state, Use use) {
  for (const auto& [name, instances] : state.instances_by_environment()) {
    const auto found = state.environments().find(name);
    const bool wanted = found != state.environments().end() && found->second.enabled;
    if (wanted && awaits_promised(state, found->second)) continue;
    const int64_t floor = wanted ? found->second.min_vcpus * 1000 : 0;
    // An instance made to one job's size (Fargate) has no other use.
    const bool waits = wanted && !found->second.instance_types.empty();
    const Duration wait = waits ? state.site().instance_idle : Duration{};
    for (const InstanceState* instance : instances.by_id) {
      if (instance->value.interruption || instance->attempts > 0) continue;
      if (instances.milli_vcpus - instance->value.size.milli_vcpus < floor) continue;
      use(*instance, instance->idle_since + wait);
    }
  }
}

std::optional<FactBody> end_idle(const State& state, Instant now) {
  std::optional<InstanceId> first;
  for_each_spare(state, [&](const InstanceState& instance, Instant from) {
    if (from <= now && (!first || instance.value.id < *first)) first = instance.value.id;
  });
  if (!first) return std::nullopt;
  return fact::InstanceEnded{*first, "Idle: scaled in"};
}

std::optional<FactBody> keep_minimum(const State& state, Instant now) {
  for (const auto& [name, environment] : state.environments()) {
    if (!environment.enabled || environment.instance_types.empty() || environment.min_vcpus == 0) continue;
    const int64_t have = state.instance_vcpus_of(name);
    if (have >= environment.min_vcpus * 1000) continue;
    for (const InstanceType& type : environment.instance_types) {
      const Resources size = instance_size(state.site(), type);
      if (size.milli_vcpus <= 0 || have + size.milli_vcpus > environment.max_vcpus * 1000) continue;
      const Money price = environment.market == Market::kSpot ? type.spot_hour : type.on_demand_hour;
      return fact::InstanceStarted{make_instance(state, environment, type.name, size, price, now)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<FactBody> next_decision(const State& state, Instant now, bool may_start) {
  if (auto settled = settle_dependent(state)) return settled;
  if (auto deleted = delete_empty_queue(state)) return deleted;
  // Only after what can be placed was: then the head waits indeed.
  if (may_start) {
    if (auto interrupted = preempt_further(state, now)) return interrupted;
    if (auto placed = place_promised(state, now)) return placed;
    if (auto placed = place_next(state, now)) return placed;
    if (auto started = keep_minimum(state, now)) return started;
    if (auto cancelled = cancel_overdue(state, now)) return cancelled;
  }
  if (auto ended = end_interrupted(state, now)) return ended;
  return end_idle(state, now);
}

std::optional<Instant> next_decision_at(const State& state, Instant now, bool may_start) {
  std::optional<Instant> next = may_start ? next_overdue_at(state, now) : std::nullopt;
  for_each_spare(state, [&next](const InstanceState&, Instant from) {
    if (!next || from < *next) next = from;
  });
  return next;
}

}  // namespace teson
