// On-demand work that lacks nothing but room takes it back from spot instances (docs/preemption.md).
//
// What is interrupted is gone only when its grace is over. Until then the room is promised: it goes to the job for
// which it is made, and others see the host as if that job were there already. Spot never interrupts anything. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/state/state.h"
#include "domain/fact.h"

namespace teson {

// Whether this job may take its place in the environment, for which there is room on the host. What is promised to
// others stays theirs: room, and the environments that they are to use. On-demand work of a queue of higher priority
// is free to take it.
bool leaves_promises(const State& state, const QueueState& queue, const ComputeEnvironment& environment,
                     const Candidate& job);

// The jobs for which room is being made go first, whatever their turn, as soon as it is there.
std::optional<FactBody> place_promised(const State& state, Instant now);

// InstanceInterrupted, one instance at a time: ask again after applying it. The job is next in its turn, fits its queue
// and was not placed. nullopt: it has room to come, or no spot instances hold what it lacks. Cost: O(instances + live
// attempts).
std::optional<FactBody> preempt(const State& state, const QueueState& queue, const Candidate& job, Instant now);

// The rest of what a job has just begun to interrupt, before anything else is decided: half of a set is of no use.
std::optional<FactBody> preempt_further(const State& state, Instant now);

// Whether a job for which room is being made is to be placed in the environment: what idles there may be its place.
bool awaits_promised(const State& state, const ComputeEnvironment& environment);

// InstanceEnded, of an interrupted instance that nothing runs on any more and whose room is nobody's.
std::optional<FactBody> end_interrupted(const State& state, Instant now);

// The fact itself: `until` is when the last attempt's grace is over.
fact::InstanceInterrupted make_interruption(const State& state, const InstanceState& instance, Instant now,
                                            std::string reason, std::optional<JobId> for_job);

// The instances that are being interrupted for this job, or for its array. By id.
std::vector<const InstanceState*> interrupted_for(const State& state, const JobId& id);

}  // namespace teson
