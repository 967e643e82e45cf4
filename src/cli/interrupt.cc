#include "cli/interrupt.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <ctime>

#include "cli/failure.h"

namespace teson::cli {
namespace {

// Lock-free, so good in a handler, whichever thread it runs on.
std::atomic<int> interrupts = 0;
static_assert(std::atomic<int>::is_always_lock_free);

void note_interrupt(int) {
  if (interrupts.exchange(1) > 0) _exit(kExitInterrupted);
}

}  // namespace

void watch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = note_interrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return interrupts > 0; }

void forget_interrupt() { interrupts = 0; }

void wait_for(Duration duration) {
  // In slices, so that a signal that lands just before the sleep costs a slice and not the whole wait.
  constexpr int64_t kSliceMicros = 50'000;
  for (int64_t left = duration.micros; left > 0 && !interrupted(); left -= kSliceMicros) {
    timespec pause{0, static_cast<long>(std::min(left, kSliceMicros) * 1000)};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace teson::cli
