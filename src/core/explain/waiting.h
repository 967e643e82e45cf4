// Why a job waits, in one sentence with figures: the statusReason of a job that is not running.
#pragma once

#include <string>

#include "domain/job.h"

namespace teson {

class State;

// Empty for a job that is starting, running or finished. Cost: O(log n) and the queue's environments.
std::string waiting_reason(const State& state, const Job& job);

}  // namespace teson
