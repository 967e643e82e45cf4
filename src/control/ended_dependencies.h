// How jobs that the loop no longer holds ended, for SubmitJob. Reads the history: not on the loop's thread.
#pragma once

#include <map>
#include <span>

#include "control/commands.h"
#include "ports/history.h"

namespace teson {

// Those of `ids` that are known, children of arrays too; the others are left out.
Result<std::map<JobId, command::SubmitJob::Ended>> find_ended(const History& history, std::span<const JobId> ids);

}  // namespace teson
