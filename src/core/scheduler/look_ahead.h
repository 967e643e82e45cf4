// Children of an array that take next to no time are placed ahead: behind one of their siblings that runs, whose place
// they take over the moment it ends. Their intent is durable by then, so that no program waits for a disk.
#pragma once

#include <optional>

#include "core/state/state.h"

namespace teson {

// AttemptPlaced behind a sibling, or nullopt where that is of no use. The job found no room of its own.
std::optional<FactBody> place_behind(const State& state, const QueueState& queue, const Candidate& job, Instant now);

}  // namespace teson
