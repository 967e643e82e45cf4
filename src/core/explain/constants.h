// AWS's constants for why a runnable job waits [AWS Batch, JobStateTimeLimitAction.reason]: the texts of this folder
// begin with them, and rules that only need to know which one it is ask here, where nothing is put into words.
#pragma once

#include <string_view>

#include "core/state/state.h"

namespace teson {

inline constexpr std::string_view kInsufficientCapacity = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY";
inline constexpr std::string_view kLargerThanMax = "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE";
inline constexpr std::string_view kRequirement = "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT";

// Of a job that can never run as things are (QueueState::held).
std::string_view constant_of_held(const State& state, const QueueState& queue, const JobSpec& spec);
// Of the job whose turn it is in its enabled queue, and that is not placed; empty where AWS has none for it.
std::string_view constant_of_head(const State& state, const QueueState& queue, const JobSpec& spec);

}  // namespace teson
