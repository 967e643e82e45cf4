#include "core/scheduler/placement.h"

#include <fmt/compile.h>

#include <algorithm>
#include <tuple>

#include "base/prng.h"
#include "core/explain/fit.h"
#include "core/scheduler/consumables.h"
#include "core/scheduler/preemption.h"

namespace teson {
namespace {

int64_t busy_milli_vcpus(const State& state, const std::string& environment) {
  int64_t total = 0;
  for (const InstanceState* instance : state.instances_of(environment)) {
    if (instance->attempts > 0) total += instance->value.size.milli_vcpus;
  }
  return total;
}

// Best fit: the instance that is left with the least room, so that large holes stay whole. None of another market, of
// before the environment changed: on-demand work on a spot instance would be preemptible.
const InstanceState* instance_with_room(const State& state, const ComputeEnvironment& environment,
                                        const Resources& ask) {
  const InstanceState* best = nullptr;
  // More than a lowered maxvCpus allows: only as many are kept busy as it does, or a steady stream would keep them all.
  const int64_t max = environment.max_vcpus * 1000;
  const bool too_many = state.instance_vcpus_of(environment.name) > max;
  const int64_t busy = too_many ? busy_milli_vcpus(state, environment.name) : 0;
  const auto left_over = [&ask](const InstanceState& i) {
    const Resources left = i.free() - ask;
    return std::tuple(left.gpus, left.milli_vcpus, left.memory_mib);
  };
  for (const InstanceState* instance : state.instances_of(environment.name)) {
    if (instance->value.market != environment.market) continue;
    if (instance->value.interruption || !ask.fits_in(instance->free())) continue;
    if (too_many && busy + (instance->attempts > 0 ? 0 : instance->value.size.milli_vcpus) > max) continue;
    if (!best || left_over(*instance) < left_over(*best)) best = instance;
  }
  return best;
}

std::optional<Instance> new_instance_for(const State& state, const ComputeEnvironment& environment,
                                         const Resources& ask, Instant now) {
  const int64_t room = environment.max_vcpus * 1000 - state.instance_vcpus_of(environment.name);
  if (environment.instance_types.empty()) {
    if (ask.milli_vcpus > room) return std::nullopt;
    return make_instance(state, environment, "Fargate", ask, Money{}, now);
  }
  for (const InstanceType& type : environment.instance_types) {
    const Resources size = instance_size(state.site(), type);
    if (!ask.fits_in(size) || size.milli_vcpus > room) continue;
    const Money price = environment.market == Market::kSpot ? type.spot_hour : type.on_demand_hour;
    return make_instance(state, environment, type.name, size, price, now);
  }
  return std::nullopt;
}

// An idle instance whose end makes room under maxvCpus for one that fits: without this, an instance kept for minvCpus
// or not yet scaled in could keep a job waiting that asks for a larger one.
std::optional<FactBody> make_room(const State& state, const ComputeEnvironment& environment, const Resources& ask) {
  int64_t reclaimable = 0;
  const InstanceState* idle = nullptr;
  for (const InstanceState* instance : state.instances_of(environment.name)) {
    if (instance->attempts > 0 || instance->value.interruption) continue;
    reclaimable += instance->value.size.milli_vcpus;
    if (!idle) idle = instance;
  }
  if (!idle) return std::nullopt;
  const int64_t room = environment.max_vcpus * 1000 - state.instance_vcpus_of(environment.name) + reclaimable;
  const auto fits = [&](const InstanceType& type) {
    const Resources size = instance_size(state.site(), type);
    return ask.fits_in(size) && size.milli_vcpus <= room;
  };
  const auto& types = environment.instance_types;
  const bool possible = types.empty() ? ask.milli_vcpus <= room : std::any_of(types.begin(), types.end(), fits);
  if (!possible) return std::nullopt;
  return fact::InstanceEnded{idle->value.id, "Replaced by an instance that fits the next job"};
}

// 32 hex digits that look like an ECS task id and depend on the job and attempt alone.
std::string task_id(const JobId& id, int number) {
  Prng prng(id.uuid.high ^ id.uuid.low ^ static_cast<uint64_t>(id.index + 1), "task " + std::to_string(number));
  return fmt::format(FMT_COMPILE("{:016x}{:016x}"), prng.next(), prng.next());
}

}  // namespace

Attempt make_attempt(const State& state, const Candidate& job, const Instance& instance, Instant now) {
  Attempt attempt;
  attempt.number = job.attempt;
  attempt.instance = instance.id;
  attempt.environment = instance.environment;
  attempt.allocated = job.spec->resources;
  attempt.gpus = state.free_gpus(job.spec->resources.gpus);
  attempt.log_stream = job.spec->definition + "/default/" + task_id(job.id, attempt.number);
  attempt.placed = now;
  return attempt;
}

Instance make_instance(const State& state, const ComputeEnvironment& environment, const std::string& type,
                       Resources size, Money price_hour, Instant now) {
  Prng prng(state.instances_started(), "instance");
  return Instance{InstanceId{prng.next()}, environment.name, type, environment.market, size, price_hour, now};
}

std::optional<FactBody> place(const State& state, const QueueState& queue, const Candidate& job, Instant now) {
  const Resources& ask = job.spec->resources;
  // The host bounds everything: its environments' instances are slices that overlap, but what jobs hold never does.
  if (!ask.fits_in(state.host_free())) return std::nullopt;
  if (std::ssize(state.free_gpus(ask.gpus)) < ask.gpus || !consumables_suffice(state, *job.spec)) return std::nullopt;
  for (const ComputeEnvironment* environment : queue.usable_environments) {
    if (!leaves_promises(state, queue, *environment, job)) continue;
    if (auto placed = place_in(state, *environment, job, now)) return placed;
  }
  return std::nullopt;
}

std::optional<FactBody> place_in(const State& state, const ComputeEnvironment& environment, const Candidate& job,
                                 Instant now) {
  const Resources& ask = job.spec->resources;
  if (const InstanceState* instance = instance_with_room(state, environment, ask)) {
    return fact::AttemptPlaced{job.id, make_attempt(state, job, instance->value, now)};
  }
  if (auto instance = new_instance_for(state, environment, ask, now))
    return fact::InstanceStarted{std::move(*instance)};
  return make_room(state, environment, ask);
}

}  // namespace teson
