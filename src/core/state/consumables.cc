// Consumable resources in the live state: who has how much, and who can never have what they ask for.
#include <utility>
#include <vector>

#include "base/check.h"
#include "core/explain/fit.h"
#include "core/scheduler/consumables.h"
#include "core/state/state.h"

namespace teson {

bool State::may_ever_run(const QueueState& queue, const JobSpec& spec) const {
  return fits_somewhere(site_, queue, spec) && totals_suffice(*this, spec);
}

void State::note_asker(const Job& job) {
  if (job.id.is_child()) return;
  for (const ConsumableAsk& ask : job.spec.consumables) consumables_.at(ask.name).jobs.emplace(job.order, job.id);
}

void State::forget_asker(const Job& job) {
  if (job.id.is_child()) return;
  for (const ConsumableAsk& ask : job.spec.consumables) consumables_.at(ask.name).jobs.erase(job.order);
}

void State::note_waiting(const QueueState& queue, uint64_t order, const JobSpec& spec, bool waits) {
  for (const ConsumableAsk& ask : spec.consumables) {
    auto& waiting = consumables_.at(ask.name).waiting;
    ConsumableState::Ask entry{ask.quantity, queue.value.name, order};
    waits ? static_cast<void>(waiting.insert(std::move(entry))) : static_cast<void>(waiting.erase(entry));
  }
}

void State::take_consumables(const JobSpec& spec) {
  for (const ConsumableAsk& ask : spec.consumables) consumables_.at(ask.name).in_use += ask.quantity;
}

// `used_up`: by an attempt that began.
void State::return_consumables(const JobSpec& spec, bool used_up) {
  for (const ConsumableAsk& ask : spec.consumables) {
    ConsumableState& consumable = consumables_.at(ask.name);
    consumable.in_use -= ask.quantity;
    TESON_CHECK(consumable.in_use >= 0, "more of a consumable resource comes back than was taken");
    if (used_up && consumable.value.kind == ConsumableKind::kNonReplenishable) {
      change_total(consumable, std::max<int64_t>(consumable.value.total - ask.quantity, 0));
    }
  }
}

// Moves those between `ready` and `held` whose ask lies between the two totals.
void State::change_total(ConsumableState& consumable, int64_t total) {
  const auto [least, most] = std::minmax({consumable.value.total, total});
  consumable.value.total = total;
  std::vector<ConsumableState::Ask> concerned(consumable.waiting.upper_bound({least, {}, UINT64_MAX}),
                                              consumable.waiting.end());
  std::erase_if(concerned,
                [&](const ConsumableState::Ask& ask) { return ask.quantity <= least || ask.quantity > most; });
  for (const ConsumableState::Ask& ask : concerned) {
    QueueState& queue = queues_.at(ask.queue);
    const auto ready = queue.ready.find(ask.order);
    const JobId id = ready != queue.ready.end() ? ready->second : queue.held.at(ask.order);
    const JobSpec& spec = *candidate(id).spec;
    unlist(queue, ask.order, spec);
    list(queue, ask.order, id, spec);
  }
}

void State::on(const fact::ConsumablePut& f) {
  ConsumableState& consumable = consumables_[f.value.name];
  const int64_t before = consumable.value.total;
  consumable.value = f.value;
  consumable.value.total = before;
  change_total(consumable, f.value.total);
}

void State::on(const fact::ConsumableDeleted& f) {
  const auto found = consumables_.find(f.name);
  TESON_CHECK(found != consumables_.end() && found->second.jobs.empty(),
              "a consumable resource is deleted that is absent or asked for");
  consumables_.erase(found);
}

}  // namespace teson
