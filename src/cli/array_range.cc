#include "cli/array_range.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "base/try.h"
#include "cli/text.h"
#include "domain/array.h"

namespace teson::cli {
namespace {

// Digits alone, and few enough for an int.
std::optional<int> number(std::string_view text) {
  constexpr size_t kMostDigits = 9;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size() && text.size() <= kMostDigits;
  return whole && value >= 0 ? std::optional(value) : std::nullopt;
}

std::string range_of(int size) { return fmt::format("0-{}", size - 1); }

Result<int> parse_size(std::string_view range, std::string_view whole) {
  const size_t dash = range.find('-');
  const auto first = number(range.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : number(range.substr(dash + 1));
  if (!first || !last || *last < *first) {
    return invalid(
        fmt::format("'{}' is not a range of indexes; write it like 0-99, or 0-99%8 for 8 at once", printable(whole)));
  }
  const bool count_alone = dash == std::string_view::npos;
  const int size = count_alone ? *first : *last - *first + 1;
  if (size < kMinArraySize || size > kMaxArraySize) {
    return invalid(fmt::format("'{}' is {} {}; an array has {} to {} of them: {} to {}", printable(whole), size,
                               size == 1 ? "child" : "children", kMinArraySize, kMaxArraySize, range_of(kMinArraySize),
                               range_of(kMaxArraySize)));
  }
  if (count_alone) {
    return invalid(
        fmt::format("'{}' is not a range of indexes; {} children are {}", printable(whole), size, range_of(size)));
  }
  if (*first != 0) {
    return invalid(fmt::format("'{}' does not begin with 0, as Batch's indexes do; {} children are {}",
                               printable(whole), size, range_of(size)));
  }
  return size;
}

}  // namespace

Result<ArrayRange> parse_array_range(std::string_view text) {
  const size_t percent = text.find('%');
  ArrayRange out;
  TESON_TRY(out.size, parse_size(text.substr(0, percent), text));
  if (percent == std::string_view::npos) return out;
  const auto throttle = number(text.substr(percent + 1));
  if (!throttle || *throttle < 1 || *throttle > kMaxArraySize) {
    return invalid(
        fmt::format("'{}': after % comes how many children run at once, 1 to {}; without it there is no "
                    "limit",
                    printable(text), kMaxArraySize));
  }
  out.throttle = *throttle;
  return out;
}

Result<int> parse_throttle(std::string_view text) {
  const auto throttle = number(text);
  if (throttle && *throttle <= kMaxArraySize) return *throttle;
  return invalid(fmt::format("'{}' is not a number of children; 1 to {} run at once, 0 is no limit", printable(text),
                             kMaxArraySize));
}

}  // namespace teson::cli
