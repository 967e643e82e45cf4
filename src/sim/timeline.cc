#include "sim/timeline.h"

#include <algorithm>
#include <utility>

namespace teson::sim {

void VirtualClock::advance_to(Instant at) { true_now_ = std::max(true_now_, at); }

void VirtualClock::restart_process() {
  process_began_ = true_now_;
  process_wall_ = wall();
}

void Timeline::at(Instant when, Event event) {
  if (free_slots_.empty()) {
    free_slots_.push_back(slots_.size());
    slots_.emplace_back();
  }
  const size_t slot = free_slots_.back();
  free_slots_.pop_back();
  slots_[slot] = std::move(event);
  heap_.push_back({std::max(when, now()), ++scheduled_, slot});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

void Timeline::run_next() {
  std::pop_heap(heap_.begin(), heap_.end(), later);
  const Entry entry = heap_.back();
  heap_.pop_back();
  Event event = std::exchange(slots_[entry.slot], nullptr);
  free_slots_.push_back(entry.slot);
  clock_.advance_to(entry.at);
  event();
}

void Timeline::run_until(Instant end) {
  while (!empty() && next_at() <= end) run_next();
  clock_.advance_to(end);
}

}  // namespace teson::sim
