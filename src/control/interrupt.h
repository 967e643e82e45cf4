// Interruptions: whose instances a user may take back, and how the attempts on them have ended. Reads the state,
// changes nothing. (Those that the scheduler decides are core/scheduler/preemption.h's.)
#pragma once

#include <string_view>

#include "base/result.h"
#include "control/commands.h"
#include "control/handle.h"
#include "core/state/state.h"

namespace teson {

// "User: ... is not authorized to perform: ...", as AWS words it.
std::unexpected<Error> not_theirs(const Caller& by, std::string_view action, const std::string& resource,
                                  std::string_view owner);

Result<Handled> handle_interrupt(const State& state, const command::Interrupt& command, Instant now);

// The end of an attempt whose instance is being taken back: lost, in AWS's words, if it ended because it was told to.
// One that ended with 0 within its grace has done its work; one whose user stopped it was stopped; one that failed
// before it was told, or for memory, has failed.
void judge_interrupted(const State& state, const Job& job, const Attempt& attempt, AttemptEnd& end);

// Its attempt is to be stopped: what is left of the grace, which began with the interruption; nullopt: it is not.
std::optional<Duration> interrupted_grace_left(const State& state, const Job& job, Instant now);

std::string host_terminated_text(const InstanceId& instance);

}  // namespace teson
