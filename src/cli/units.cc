#include "cli/units.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <ctime>
#include <limits>

namespace teson::cli {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

std::unexpected<Error> bad_duration(std::string_view text) {
  return invalid(fmt::format("'{}' is not a duration; write it like 90s, 8h or 1h30m (units d, h, m, s)", text));
}

std::unexpected<Error> bad_memory(std::string_view text) {
  return invalid(fmt::format("'{}' is not a memory size; write it like 4GiB, 4096MiB or 4G", text));
}

// "12.375" in thousandths, exactly; at most three decimals. Advances `text` past the number.
bool take_thousandths(std::string_view& text, int64_t& thousandths) {
  int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error != std::errc() || whole < 0 || whole > kMax / 1000 - 1) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  thousandths = whole * 1000;
  if (!text.starts_with('.')) return true;
  text.remove_prefix(1);
  int64_t weight = 100;
  size_t digits = 0;
  for (; digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits])); ++digits, weight /= 10) {
    if (weight == 0) return false;
    thousandths += weight * (text[digits] - '0');
  }
  text.remove_prefix(digits);
  return digits > 0;
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  static constexpr std::array<std::pair<char, int64_t>, 4> kUnits = {
      {{'d', 86'400}, {'h', 3'600}, {'m', 60}, {'s', 1}}};
  std::string_view rest = text;
  size_t next_unit = 0;
  int64_t seconds = 0;
  if (rest.empty()) return bad_duration(text);
  while (!rest.empty()) {
    int64_t count = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), count);
    if (error != std::errc() || count < 0) return bad_duration(text);
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    if (rest.empty()) return bad_duration(text);
    while (next_unit < kUnits.size() && kUnits[next_unit].first != rest.front()) ++next_unit;
    if (next_unit == kUnits.size()) return bad_duration(text);
    const int64_t unit = kUnits[next_unit++].second;
    rest.remove_prefix(1);
    // A century: far beyond any limit of the service, and far from overflow in microseconds.
    if (count > 100LL * 366 * 86'400 / unit) return invalid(fmt::format("'{}' is too long a duration", text));
    seconds += count * unit;
  }
  if (seconds == 0) return invalid(fmt::format("'{}' is no time at all; it must be at least 1s", text));
  return Duration::seconds(seconds);
}

Result<int64_t> parse_memory_mib(std::string_view text) {
  std::string_view rest = text;
  int64_t thousandths = 0;
  if (!take_thousandths(rest, thousandths)) return bad_memory(text);
  std::string unit;
  for (const char c : rest) unit += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  int64_t mib_per_unit = 0;
  if (unit == "mib" || unit == "m") mib_per_unit = 1;
  if (unit == "gib" || unit == "g") mib_per_unit = 1024;
  if (unit == "tib" || unit == "t") mib_per_unit = 1024 * 1024;
  if (mib_per_unit == 0) return bad_memory(text);
  if (thousandths > kMax / mib_per_unit) return invalid(fmt::format("'{}' is more memory than any machine has", text));
  const int64_t mib = thousandths * mib_per_unit / 1000;
  if (thousandths * mib_per_unit % 1000 != 0) {
    return invalid(fmt::format("'{}' is not a whole number of MiB; {}MiB is near", text, mib));
  }
  if (mib < 1) return invalid(fmt::format("'{}' is no memory at all; write it like 4GiB, 4096MiB or 4G", text));
  return mib;
}

Result<int64_t> parse_milli_vcpus(std::string_view text) {
  std::string_view rest = text;
  int64_t thousandths = 0;
  if (!take_thousandths(rest, thousandths) || !rest.empty() || thousandths == 0) {
    return invalid(fmt::format("'{}' is not a number of vCPUs; write it like 2 or 0.25", text));
  }
  return thousandths;
}

std::string duration_text(Duration duration) {
  if (duration.micros < 0) return "-" + duration_text(Duration{-duration.micros});
  const int64_t seconds = duration.whole_seconds();
  if (seconds < 1) return fmt::format("{}ms", duration.whole_millis());
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3'600) return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
  if (seconds < 86'400) return fmt::format("{}h{:02}m", seconds / 3'600, seconds % 3'600 / 60);
  return fmt::format("{}d{:02}h", seconds / 86'400, seconds % 86'400 / 3'600);
}

std::string time_text(Instant instant) {
  if (instant.micros == 0) return "-";
  const std::time_t seconds = static_cast<std::time_t>(instant.millis() / 1000);
  std::tm parts{};
  if (localtime_r(&seconds, &parts) == nullptr) return "-";
  char buffer[32];
  const size_t length = std::strftime(buffer, sizeof buffer, "%Y-%m-%d %H:%M:%S", &parts);
  return std::string(buffer, length);
}

std::string bytes_text(int64_t bytes) {
  static constexpr std::array<const char*, 5> kNames = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  size_t name = 0;
  while (value >= 1024 && name + 1 < kNames.size()) {
    value /= 1024;
    ++name;
  }
  return fmt::format("{:.1f} {}", value, kNames[name]);
}

}  // namespace teson::cli
