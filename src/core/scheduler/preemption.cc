#include "core/scheduler/preemption.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "core/explain/words.h"
#include "core/scheduler/fair_share.h"
#include "core/scheduler/placement.h"

namespace teson {
namespace {

constexpr size_t kShownOfName = 64;

// Held by attempts that are being ended.
Resources room_to_come(const State& state) {
  Resources out;
  for (const InstanceId& id : state.interrupted()) out = out + state.instances().at(id).used;
  return out;
}

// For whom room is being made, by the priority of their queues.
std::vector<JobId> promised(const State& state) {
  std::set<std::tuple<int, JobId>> ranked;
  for (const InstanceId& id : state.interrupted()) {
    const auto& owner = state.instances().at(id).value.interruption->for_job;
    if (!owner || !state.ready_for(*owner)) continue;
    ranked.emplace(-state.queues().at(state.job(*owner)->spec.queue).value.priority, *owner);
  }
  std::vector<JobId> out;
  for (const auto& [priority, owner] : ranked) out.push_back(owner);
  return out;
}

// In all, to others than `id`; only to those whose queue has at least this priority.
Resources promised_to_others(const State& state, const JobId& id, std::optional<int> least_priority) {
  Resources out;
  for (const JobId& owner : promised(state)) {
    const JobSpec& spec = state.job(owner)->spec;
    if (owner == id.parent()) continue;
    if (least_priority && state.queues().at(spec.queue).value.priority < *least_priority) continue;
    out = out + spec.resources;
  }
  return out;
}

bool uses_on_demand(const QueueState& queue, const ComputeEnvironment& environment) {
  return environment.market == Market::kOnDemand &&
         std::ranges::find(queue.usable_environments, &environment) != queue.usable_environments.end();
}

// Another job is to use this environment once its room is there: its maxvCpus must not be gone by then.
bool is_claimed(const State& state, const ComputeEnvironment& environment, const JobId& id,
                std::optional<int> least_priority) {
  return std::ranges::any_of(promised(state), [&](const JobId& owner) {
    const QueueState& queue = state.queues().at(state.job(owner)->spec.queue);
    return owner != id.parent() && (!least_priority || queue.value.priority >= *least_priority) &&
           uses_on_demand(queue, environment);
  });
}

bool is_preemptible(const InstanceState& instance) {
  return instance.value.market == Market::kSpot && !instance.value.interruption && instance.attempts > 0;
}

// All but the host's room is there: an on-demand environment takes the job as it is.
enum class Claimed { kToo, kNot };
std::optional<FactBody> place_on_demand(const State& state, const QueueState& queue, const Candidate& job, Instant now,
                                        Claimed claimed) {
  for (const ComputeEnvironment* environment : queue.usable_environments) {
    if (environment->market != Market::kOnDemand) continue;
    if (claimed == Claimed::kNot && is_claimed(state, *environment, job.id, std::nullopt)) continue;
    if (auto placed = place_in(state, *environment, job, now)) return placed;
  }
  return std::nullopt;
}

// The youngest first, until they do; then without those that turn out not to be needed, the oldest first.
std::vector<const InstanceState*> smallest_set(std::vector<const InstanceState*> candidates, Resources room,
                                               const Resources& ask) {
  std::ranges::sort(candidates, [](const InstanceState* a, const InstanceState* b) {
    return std::tuple(b->value.started, b->value.id) < std::tuple(a->value.started, a->value.id);
  });
  std::vector<const InstanceState*> taken;
  for (const InstanceState* candidate : candidates) {
    if (ask.fits_in(room)) break;
    room = room + candidate->used;
    taken.push_back(candidate);
  }
  if (!ask.fits_in(room)) return {};
  for (size_t i = taken.size(); i-- > 0;) {
    if (!ask.fits_in(room - taken[i]->used)) continue;
    room = room - taken[i]->used;
    taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return taken;
}

bool waits_for_promise(const State& state, const JobId& owner, Instant now) {
  const auto id = state.ready_for(owner);
  if (!id) return false;
  const Candidate job = state.candidate(*id);
  const QueueState& queue = state.queues().at(job.spec->queue);
  if (!queue.value.enabled || kept_by_reservation(state, queue, *job.spec)) return false;
  const Resources room = state.host_free() + room_to_come(state) - promised_to_others(state, *id, queue.value.priority);
  return job.spec->resources.fits_in(room) && place_on_demand(state, queue, job, now, Claimed::kToo).has_value();
}

}  // namespace

bool leaves_promises(const State& state, const QueueState& queue, const ComputeEnvironment& environment,
                     const Candidate& job) {
  if (state.interrupted().empty()) return true;
  const bool on_demand = environment.market == Market::kOnDemand;
  const auto least = on_demand ? std::optional(queue.value.priority) : std::nullopt;
  if (on_demand && is_claimed(state, environment, job.id, least)) return false;
  const Resources room = state.host_free() + room_to_come(state) - promised_to_others(state, job.id, least);
  return job.spec->resources.fits_in(room);
}

std::optional<FactBody> place_promised(const State& state, Instant now) {
  if (state.interrupted().empty()) return std::nullopt;
  const auto owners = promised(state);
  // Claims that meet (a queue got other environments meanwhile) give way, or they would wait for each other.
  for (const Claimed claimed : {Claimed::kNot, Claimed::kToo}) {
    for (const JobId& owner : owners) {
      const Candidate job = state.candidate(*state.ready_for(owner));
      const QueueState& queue = state.queues().at(job.spec->queue);
      if (!queue.value.enabled || kept_by_reservation(state, queue, *job.spec)) continue;
      const Resources left = room_to_come(state) - promised_to_others(state, job.id, queue.value.priority);
      if (!job.spec->resources.fits_in(Resources::smaller(state.host_free(), state.host_free() + left))) continue;
      if (auto placed = place_on_demand(state, queue, job, now, claimed)) return placed;
    }
  }
  return std::nullopt;
}

std::optional<FactBody> preempt(const State& state, const QueueState& queue, const Candidate& job, Instant now) {
  // What it asks for besides room may be gone by the time that the room is there: it would be made in vain.
  if (!state.site().preemption || !job.spec->consumables.empty()) return std::nullopt;
  const Resources& ask = job.spec->resources;
  Resources room = state.host_free();
  if (!state.interrupted().empty()) {
    room = room + room_to_come(state) - promised_to_others(state, job.id, std::nullopt);
  }
  if (ask.fits_in(room)) return std::nullopt;
  std::vector<const InstanceState*> candidates;
  for (const auto& [id, instance] : state.instances()) {
    if (is_preemptible(instance)) candidates.push_back(&instance);
  }
  if (candidates.empty()) return std::nullopt;
  const auto chosen = smallest_set(std::move(candidates), room, ask);
  if (chosen.empty() || !place_on_demand(state, queue, job, now, Claimed::kNot)) return std::nullopt;
  const JobId owner = job.id.parent();
  return make_interruption(
      state, *chosen.front(), now,
      fmt::format("{}for on-demand job {} ({})", kInterrupted, owner.text(), clipped(job.spec->name, kShownOfName)),
      owner);
}

std::optional<FactBody> preempt_further(const State& state, Instant now) {
  const auto& owner = state.interrupting();
  const auto id = owner ? state.ready_for(*owner) : std::nullopt;
  if (!id) return std::nullopt;
  const Candidate job = state.candidate(*id);
  return preempt(state, state.queues().at(job.spec->queue), job, now);
}

bool awaits_promised(const State& state, const ComputeEnvironment& environment) {
  if (state.interrupted().empty()) return false;
  return std::ranges::any_of(promised(state), [&](const JobId& owner) {
    return uses_on_demand(state.queues().at(state.job(owner)->spec.queue), environment);
  });
}

std::optional<FactBody> end_interrupted(const State& state, Instant now) {
  for (const InstanceId& id : state.interrupted()) {
    const InstanceState& instance = state.instances().at(id);
    if (instance.attempts > 0) continue;
    const auto& owner = instance.value.interruption->for_job;
    // The last one for its job carries the promise until the job is placed.
    if (owner && interrupted_for(state, *owner).size() == 1 && waits_for_promise(state, *owner, now)) continue;
    return fact::InstanceEnded{id, instance.value.interruption->reason};
  }
  return std::nullopt;
}

fact::InstanceInterrupted make_interruption(const State& state, const InstanceState& instance, Instant now,
                                            std::string reason, std::optional<JobId> for_job) {
  Duration grace;
  for (const JobId& id : state.jobs_on(instance.value.id)) grace = std::max(grace, state.job(id)->spec.grace);
  return {instance.value.id, now + grace, std::move(reason), std::move(for_job)};
}

std::vector<const InstanceState*> interrupted_for(const State& state, const JobId& id) {
  std::vector<const InstanceState*> out;
  for (const InstanceId& interrupted : state.interrupted()) {
    const InstanceState& instance = state.instances().at(interrupted);
    if (instance.value.interruption->for_job == id.parent()) out.push_back(&instance);
  }
  return out;
}

}  // namespace teson
