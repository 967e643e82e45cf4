// What should happen next, as one fact: apply it and ask again until there is none. Reads the state, changes nothing.
//
// Order: consequences of ended jobs for their dependents; then placement, queue by queue (priority, then name), each
// strictly first-in first-out; then instances that an environment must keep or may let go.
// A job that can never be placed as things are (QueueState::held) never stands in the way of the others.
#pragma once

#include <optional>

#include "domain/fact.h"

namespace teson {

class State;

// Cost: O(queues x environments x instances of them), independent of the number of waiting jobs.
// `may_start` false: dependents are still settled and instances end, but nothing is placed.
std::optional<FactBody> next_decision(const State& state, Instant now, bool may_start);

// The next moment at which next_decision may have something new to say without any new fact; nullopt if never.
std::optional<Instant> next_decision_at(const State& state, Instant now, bool may_start);

}  // namespace teson
