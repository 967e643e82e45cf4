#include "core/explain/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace teson {

std::string utc_text(Instant at) {
  constexpr int64_t kDay = 86'400;
  const int64_t total = at.micros / 1'000'000;
  const int64_t days = total >= 0 ? total / kDay : (total - kDay + 1) / kDay;
  const int64_t second = total - days * kDay;
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{days}}};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), second / 3600,
                     second / 60 % 60, second % 60);
}

std::string span_text(Duration span) {
  const int64_t seconds = std::max<int64_t>(span.micros, 0) / 1'000'000;
  if (seconds < 10) return fmt::format("{:.1f} s", static_cast<double>(std::max<int64_t>(span.micros, 0)) / 1e6);
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  if (seconds < 86'400) return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
  return fmt::format("{} d {} h", seconds / 86'400, seconds / 3600 % 24);
}

std::string clipped(std::string_view text, size_t size) {
  if (text.size() <= size) return std::string(text);
  size_t end = size - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

std::string brief(const JobId& id) {
  constexpr size_t kDigits = 8;
  const std::string whole = id.parent().text().substr(0, kDigits);
  return id.is_child() ? fmt::format("{}:{}", whole, id.index) : whole;
}

}  // namespace teson
