// Whose turn it is in a queue with a fair-share policy [AWS Batch API, FairsharePolicy].
//
// A share's load is what it runs now and what it ran lately, the past fading with the policy's time, times its weight.
// The share with the smallest load goes next. Within a share: priority, then the order of submission. Nobody passes the
// job whose turn it is, so none starves.
#pragma once

#include <optional>
#include <vector>

#include "core/state/state.h"

namespace teson {

// Thousandths of vCPU seconds: past use falls to 1/e in the policy's decay time.
int64_t used_at(const ShareState& share, const SchedulingPolicy& policy, Instant now);

// The job that the queue places next; nullopt if none is ready. In a queue without a policy, the first in.
std::optional<JobId> next_in_turn(const State& state, const QueueState& queue, Instant now);

// The first jobs in the order in which they would be placed if each had room, at most `limit`: of arrays each child
// that may run now. Cost: O(limit x shares).
std::vector<JobId> front_of_queue(const State& state, const QueueState& queue, Instant now, size_t limit);

// computeReservation: percent^(active shares) of the queue's capacity stay free for shares that come later. Whether
// this job must wait for that.
bool kept_by_reservation(const State& state, const QueueState& queue, const JobSpec& spec);

}  // namespace teson
