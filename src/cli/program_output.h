// Runs a program to its end and gives what it wrote, without a shell.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace teson::cli {

// Standard output alone, at most 64 KiB; an error when it cannot be run, ends with another status than 0, or takes
// longer than `limit` (it is then killed).
Result<std::string> program_output(const std::vector<std::string>& words, Duration limit);

// Where PATH has an executable of that name; empty: nowhere.
std::string find_program(const std::string& name);

}  // namespace teson::cli
