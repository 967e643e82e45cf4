#include "core/scheduler/decide.h"

#include "core/explain/fit.h"
#include "core/scheduler/placement.h"
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
    if (!queue->value.enabled || queue->ready.empty()) continue;
    if (auto placed = place(state, state.candidate(queue->ready.begin()->second), now)) return placed;
  }
  return std::nullopt;
}

// Thousandths of a vCPU that the environment must keep even when idle.
int64_t floor_of(const State& state, const Instance& instance) {
  const auto found = state.environments().find(instance.environment);
  if (found == state.environments().end() || !found->second.enabled) return 0;
  return found->second.min_vcpus * 1000;
}

bool may_go(const State& state, const InstanceState& instance) {
  if (instance.attempts > 0) return false;
  const int64_t left = state.instance_vcpus_of(instance.value.environment) - instance.value.size.milli_vcpus;
  return left >= floor_of(state, instance.value);
}

Instant idle_end(const State& state, const InstanceState& instance) {
  const auto found = state.environments().find(instance.value.environment);
  const bool wanted = found != state.environments().end() && found->second.enabled;
  // An instance made to one job's size (Fargate) has no other use.
  const bool single_use = wanted && found->second.instance_types.empty();
  return wanted && !single_use ? instance.idle_since + state.site().instance_idle : instance.idle_since;
}

std::optional<FactBody> end_idle(const State& state, Instant now) {
  for (const auto& [id, instance] : state.instances()) {
    if (may_go(state, instance) && idle_end(state, instance) <= now) {
      return fact::InstanceEnded{id, "Idle: scaled in"};
    }
  }
  return std::nullopt;
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
  if (may_start) {
    if (auto placed = place_next(state, now)) return placed;
    if (auto started = keep_minimum(state, now)) return started;
  }
  return end_idle(state, now);
}

std::optional<Instant> next_decision_at(const State& state) {
  std::optional<Instant> next;
  for (const auto& [id, instance] : state.instances()) {
    if (!may_go(state, instance)) continue;
    const Instant at = idle_end(state, instance);
    if (!next || at < *next) next = at;
  }
  return next;
}

}  // namespace teson
