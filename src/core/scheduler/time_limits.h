// jobStateTimeLimitActions: a job that waits too long is cancelled, so that the next has its turn.
//
// A job whose capacity is missing is judged from when its turn came; one that can never run as things are, which nobody
// waits behind, from when it could have run.
#pragma once

#include <optional>

#include "core/state/state.h"

namespace teson {

// StopRequested, then JobFailed (ask again after applying the first); ChildrenFailed for an array. nullopt: nothing is
// due.
std::optional<FactBody> cancel_overdue(const State& state, Instant now);
// When cancel_overdue() may have something to say without any new fact; it has had its say about `now`.
std::optional<Instant> next_overdue_at(const State& state, Instant now);

}  // namespace teson
