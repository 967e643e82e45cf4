// What /proc/PID/stat says of a process (proc_pid_stat(5)). Any thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace teson {

struct ProcessStat {
  char state = 'Z';          // field 3: R, S, D, T, Z, ...
  pid_t parent = 0;          // field 4
  uint64_t start_ticks = 0;  // field 22: clock ticks since the host's boot; tells a process from a later one of its id
};

// Nothing: it does not have the form.
std::optional<ProcessStat> parse_process_stat(std::string_view text);
// Nothing: there is no such process.
std::optional<ProcessStat> read_process_stat(pid_t pid);

}  // namespace teson
