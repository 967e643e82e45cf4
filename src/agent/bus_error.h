// What a program that ended by SIGBUS ran into, for the attempt's reason. Looks at /dev/shm; any thread.
#pragma once

#include <string>

namespace teson {

std::string bus_error_text();

}  // namespace teson
