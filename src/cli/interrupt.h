// Ctrl-C while a command waits: the first one is noticed by the command, a second ends the program at once.
#pragma once

#include "base/time.h"

namespace teson::cli {

// SIGINT and SIGTERM from here on only set a mark. Call before waiting begins.
void watch_interrupts();
bool interrupted();
// For commands that go on after the first: the next one is the first again.
void forget_interrupt();
// Returns early when interrupted.
void wait_for(Duration duration);

}  // namespace teson::cli
