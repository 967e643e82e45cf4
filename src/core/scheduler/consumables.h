// Whether there is enough of the consumable resources that a job asks for.
#pragma once

#include <optional>
#include <string>

#include "core/state/state.h"

namespace teson {

// Now, beside what live attempts have.
bool consumables_suffice(const State& state, const JobSpec& spec);
// If nobody had any.
bool totals_suffice(const State& state, const JobSpec& spec);
// Of which there is not enough now: "consumable resource 'licence': asked 2, free 0 of 3".
std::string consumables_short(const State& state, const JobSpec& spec);
// Of which there will never be enough as things are: an AWS constant, a dash, and the figures.
std::optional<std::string> why_totals_never_suffice(const State& state, const JobSpec& spec);

}  // namespace teson
