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
  heap_.push_back({std::max(when, now()), ++scheduled_, std::move(event)});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

void Timeline::run_next() {
  std::pop_heap(heap_.begin(), heap_.end(), later);
  Entry entry = std::move(heap_.back());
  heap_.pop_back();
  clock_.advance_to(entry.at);
  entry.event();
}

void Timeline::run_until(Instant end) {
  while (!empty() && next_at() <= end) run_next();
  clock_.advance_to(end);
}

}  // namespace teson::sim
