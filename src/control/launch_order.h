// What the agent of a placed attempt is told: the job's own words and the platform's environment variables.
#pragma once

#include "core/state/state.h"
#include "domain/launch.h"

namespace teson {

// The job has a live attempt. Variables as AWS Batch sets them [AWS Batch user guide, job environment variables].
LaunchOrder make_launch_order(const State& state, const Job& job);

}  // namespace teson
