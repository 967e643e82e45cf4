// Standard output and standard error, and who is reading them.
#pragma once

#include <cstddef>
#include <string_view>

#include "cli/json_access.h"
#include "cli/table.h"

namespace teson::cli {

bool stdout_is_terminal();
// 0: not a terminal, or its width is unknown: nothing is cut.
size_t terminal_width();
bool stderr_is_terminal();
size_t stderr_width();

void print(std::string_view text);
void print_json(const Json& value);
void print_table(const Table& table);
// "teson: <text>" and a newline, to standard error.
void note(std::string_view text);
// To standard error as it is, for what is neither a result nor a message of its own.
void print_aside(std::string_view text);
// False when something that was printed did not arrive (disk full, closed pipe).
bool flush_output();

}  // namespace teson::cli
