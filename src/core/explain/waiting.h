// Why a job waits, in one sentence with figures: the statusReason of a job that is not running.
#pragma once

#include <string>

#include "core/explain/explain.h"

namespace teson {

class State;

// Both empty for a job that is starting, running or finished. Cost: explain_live's.
Explanation explain_waiting(const State& state, const Job& job);
// Its sentence, at most kLongestReason long.
std::string waiting_reason(const State& state, const Job& job);

}  // namespace teson
