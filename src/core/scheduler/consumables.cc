#include "core/scheduler/consumables.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/explain/constants.h"

namespace teson {

bool consumables_suffice(const State& state, const JobSpec& spec) {
  return std::ranges::all_of(spec.consumables, [&](const ConsumableAsk& ask) {
    return ask.quantity <= state.consumables().at(ask.name).available();
  });
}

bool totals_suffice(const State& state, const JobSpec& spec) {
  return std::ranges::all_of(spec.consumables, [&](const ConsumableAsk& ask) {
    return ask.quantity <= state.consumables().at(ask.name).value.total;
  });
}

std::string consumables_short(const State& state, const JobSpec& spec) {
  std::string out;
  for (const ConsumableAsk& ask : spec.consumables) {
    const ConsumableState& consumable = state.consumables().at(ask.name);
    if (ask.quantity <= consumable.available()) continue;
    out += fmt::format("{}consumable resource '{}': asked {}, free {} of {}", out.empty() ? "" : "; ", ask.name,
                       ask.quantity, consumable.available(), consumable.value.total);
  }
  return out;
}

std::optional<std::string> why_totals_never_suffice(const State& state, const JobSpec& spec) {
  for (const ConsumableAsk& ask : spec.consumables) {
    const ConsumableResource& resource = state.consumables().at(ask.name).value;
    if (ask.quantity <= resource.total) continue;
    return fmt::format("{} - consumable resource '{}': asked {}, {} {}", kRequirement, ask.name, ask.quantity,
                       resource.kind == ConsumableKind::kReplenishable ? "total" : "left of it", resource.total);
  }
  return std::nullopt;
}

}  // namespace teson
