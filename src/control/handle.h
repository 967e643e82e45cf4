// Commands and reports -> facts, judged against the state. Reads the state, changes nothing.
#pragma once

#include <vector>

#include "base/result.h"
#include "control/commands.h"
#include "core/state/state.h"
#include "domain/fact.h"
#include "domain/launch.h"

namespace teson {

struct Handled {
  std::vector<FactBody> facts;
  Accepted accepted;
};

// A job id that was submitted before is accepted again without a fact, so that a client may repeat a submit whose
// answer it never saw.
Result<Handled> handle(const State& state, const Command& command, Instant now);

// Nothing for a report about an attempt that is not live: late and doubled messages change nothing.
std::vector<FactBody> handle(const State& state, const AttemptReport& report, Instant now);

}  // namespace teson
