// Where one job goes: an instance with room, else a new instance, in the queue's order of environments.
#pragma once

#include <optional>

#include "core/state/state.h"
#include "domain/fact.h"

namespace teson {

// InstanceStarted where a new machine is needed first, InstanceEnded where an idle one stands in its way (ask again
// after applying either), AttemptPlaced where the job can go now, nullopt where it must wait. The job is runnable and
// its queue enabled.
std::optional<FactBody> place(const State& state, const QueueState& queue, const Candidate& job, Instant now);

// The same in one of its environments, the host's room aside.
std::optional<FactBody> place_in(const State& state, const ComputeEnvironment& environment, const Candidate& job,
                                 Instant now);

Attempt make_attempt(const State& state, const Candidate& job, const Instance& instance, Instant now);

// A new instance of the type, named after the number of instances started so far.
Instance make_instance(const State& state, const ComputeEnvironment& environment, const std::string& type,
                       Resources size, Money price_hour, Instant now);

}  // namespace teson
