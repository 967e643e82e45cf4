// Durations, memory sizes and CPU counts as people write and read them.
//
// Parsers name the value that was wrong and what would be right; they know nothing of flags.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace teson::cli {

// "90s", "8h", "1h30m", "2d": whole numbers, units d h m s, largest first, each at most once; more than zero.
Result<Duration> parse_duration(std::string_view text);
// "4GiB", "4096MiB", "4G", "1.5GiB": powers of 1024, any case; a whole number of MiB, at least 1.
Result<int64_t> parse_memory_mib(std::string_view text);
// "2", "0.25": at most three decimals, more than zero. In thousandths.
Result<int64_t> parse_milli_vcpus(std::string_view text);

// "850ms", "12s", "3m05s", "2h04m", "3d07h".
std::string duration_text(Duration duration);
// Local time, "2026-03-01 14:05:09"; "-" for an instant of zero.
std::string time_text(Instant instant);
// "512 B", "4.0 KiB", "3.2 GiB".
std::string bytes_text(int64_t bytes);

}  // namespace teson::cli
