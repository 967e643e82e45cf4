// The real clock (ports/clock.h): wall time at the start, from then on moved by CLOCK_BOOTTIME alone.
//
// Setting the system's clock changes nothing here, and time spent asleep counts. Thread: any.
#pragma once

#include <atomic>

#include "ports/clock.h"

namespace teson {

class SystemClock final : public Clock {
 public:
  // Begins at wall time, or at `floor` if the system's clock is behind it.
  explicit SystemClock(Instant floor = Instant{INT64_MIN});

  Instant now() const override;
  Instant wall() const override;
  // From now on now() is no earlier than this: the last fact's time, so that facts never go back. A clock that is
  // behind it jumps there and goes on from there.
  void not_before(Instant floor);

 private:
  std::atomic<int64_t> offset_micros_;  // what to add to CLOCK_BOOTTIME
};

}  // namespace teson
