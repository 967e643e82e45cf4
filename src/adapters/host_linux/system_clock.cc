#include "adapters/host_linux/system_clock.h"

#include <time.h>

#include "base/check.h"

namespace teson {
namespace {

int64_t read_micros(clockid_t clock) {
  timespec time;
  TESON_CHECK(clock_gettime(clock, &time) == 0, "clock_gettime");
  return int64_t{time.tv_sec} * 1'000'000 + time.tv_nsec / 1'000;
}

}  // namespace

SystemClock::SystemClock(Instant floor) : offset_micros_(read_micros(CLOCK_REALTIME) - read_micros(CLOCK_BOOTTIME)) {
  not_before(floor);
}

Instant SystemClock::now() const { return Instant{read_micros(CLOCK_BOOTTIME) + offset_micros_}; }

Instant SystemClock::wall() const { return Instant{read_micros(CLOCK_REALTIME)}; }

void SystemClock::not_before(Instant floor) {
  int64_t offset = offset_micros_;
  while (true) {
    const int64_t boot = read_micros(CLOCK_BOOTTIME);
    if (boot + offset >= floor.micros) return;
    if (offset_micros_.compare_exchange_weak(offset, floor.micros - boot)) return;
  }
}

}  // namespace teson
