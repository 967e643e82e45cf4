// The judge of consumable resources: never more in use than there is, and used up only by attempts that began.
#include <algorithm>

#include "sim/ledger.h"

namespace teson::sim {

void Ledger::on(const fact::ConsumablePut& f) { consumables_[f.value.name].value = f.value; }

void Ledger::on(const fact::ConsumableDeleted& f) {
  const auto found = consumables_.find(f.name);
  SIM_REQUIRE(found != consumables_.end(), "consumable resource {} is deleted and is not there", f.name);
  for (const JobId& id : live_) {
    const auto& asks = jobs_.at(id).spec.consumables;
    SIM_REQUIRE(std::ranges::find(asks, f.name, &ConsumableAsk::name) == asks.end(),
                "consumable resource {} is deleted while job {} asks for it", f.name, id.text());
  }
  consumables_.erase(found);
}

void Ledger::take_consumables(const JobId& id, const JobRecord& job) {
  for (const ConsumableAsk& ask : job.spec.consumables) {
    ConsumableRecord& consumable = consumables_.at(ask.name);
    consumable.in_use += ask.quantity;
    SIM_REQUIRE(consumable.in_use <= consumable.value.total, "job {} takes consumable resource {} to {} of {}",
                id.text(), ask.name, consumable.in_use, consumable.value.total);
  }
}

void Ledger::return_consumables(const JobRecord& job) {
  for (const ConsumableAsk& ask : job.spec.consumables) {
    ConsumableRecord& consumable = consumables_.at(ask.name);
    consumable.in_use -= ask.quantity;
    const bool used_up =
        consumable.value.kind == ConsumableKind::kNonReplenishable && job.phase == JobRecord::Phase::kRunning;
    if (used_up) consumable.value.total = std::max<int64_t>(consumable.value.total - ask.quantity, 0);
  }
}

}  // namespace teson::sim
