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

// A job id that is live is accepted again without a fact. One that has ended is not known here: whoever repeats a
// submit follows the order that commands.h gives.
Result<Handled> handle(const State& state, Command command, Instant now);

// Nothing for a report about an attempt that is not live: late and doubled messages change nothing.
std::vector<FactBody> handle(const State& state, const AttemptReport& report, Instant now);

}  // namespace teson
