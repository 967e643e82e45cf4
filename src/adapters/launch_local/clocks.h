// The launcher's clocks: wall time for reports, monotonic time for deadlines. Any thread.
#pragma once

#include <time.h>

#include "base/time.h"

namespace teson {

inline int64_t clock_micros(clockid_t clock) {
  timespec now;
  ::clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

inline Instant launch_wall_now() { return Instant{clock_micros(CLOCK_REALTIME)}; }
inline Duration launch_monotonic_now() { return Duration{clock_micros(CLOCK_MONOTONIC)}; }

}  // namespace teson
