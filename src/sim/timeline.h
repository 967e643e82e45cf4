// Virtual time and what is due in it: an event heap ordered by (time, sequence), so that one seed gives one trace.
//
// True time only goes on. What a process reads is a wall clock that may be set back or forward under it
// (ports/clock.h). Thread: one. An event may schedule others and may throw: it has left the heap by then.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/time.h"
#include "ports/clock.h"

namespace teson::sim {

class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(Instant start) : true_now_(start), process_began_(start), process_wall_(start) {}

  // The control plane's clock: the wall time at its start and the time that has passed since.
  Instant now() const override { return process_wall_ + (true_now_ - process_began_); }
  Instant wall() const override { return true_now_ + wall_offset_; }
  Instant true_now() const { return true_now_; }

  void advance_to(Instant at);
  void set_wall(Duration by) { wall_offset_ = wall_offset_ + by; }
  // A new process reads the wall clock as it stands now.
  void restart_process();

 private:
  Instant true_now_;
  Duration wall_offset_;
  Instant process_began_;
  Instant process_wall_;
};

class Timeline {
 public:
  using Event = std::move_only_function<void()>;

  explicit Timeline(Instant start) : clock_(start) {}

  VirtualClock& clock() { return clock_; }
  const VirtualClock& clock() const { return clock_; }
  Instant now() const { return clock_.true_now(); }

  // A time that has passed is now.
  void at(Instant when, Event event);
  void after(Duration delay, Event event) { at(now() + delay, std::move(event)); }
  bool empty() const { return heap_.empty(); }
  Instant next_at() const { return heap_.front().at; }
  // Moves time to the next event and runs it. Not when empty.
  void run_next();
  // Runs all that is due until `end`, then moves time there.
  void run_until(Instant end);

 private:
  // Small and plain, since a heap moves its entries often; the event itself stays in its slot.
  struct Entry {
    Instant at;
    uint64_t sequence = 0;
    size_t slot = 0;
  };
  // For the standard heap, whose front is the largest.
  static bool later(const Entry& a, const Entry& b) { return a.at != b.at ? a.at > b.at : a.sequence > b.sequence; }

  VirtualClock clock_;
  std::vector<Entry> heap_;
  std::vector<Event> slots_;
  std::vector<size_t> free_slots_;
  uint64_t scheduled_ = 0;
};

}  // namespace teson::sim
