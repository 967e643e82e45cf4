// The two clocks of an agent: the wall for people, the monotonic one for lengths.
#pragma once

#include <time.h>

#include "base/time.h"

namespace teson {

inline Instant wall_now() {
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  return Instant{int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000};
}

// Since some fixed point; does not count time asleep.
inline Duration monotonic_now() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return Duration{int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000};
}

}  // namespace teson
