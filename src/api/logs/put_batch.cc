#include "api/logs/put_batch.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/logs/event_source.h"
#include "base/try.h"

namespace teson::logs {
namespace {

constexpr size_t kMaxEvents = 10'000;
constexpr size_t kMaxEventBytes = 256 * 1024;
constexpr size_t kMaxBatchBytes = 1024 * 1024;
constexpr Duration kDay = Duration::seconds(24 * 3600);
constexpr Duration kMaxAge = kDay * 14;
constexpr Duration kMaxAhead = Duration::seconds(2 * 3600);

}  // namespace

Result<std::vector<NewLogEvent>> batch_field(const wire::JsonValue& body) {
  TESON_TRY(const auto values, wire::required_array(body, "logEvents", 1, kMaxEvents));
  std::vector<NewLogEvent> events;
  events.reserve(values.size());
  size_t total = 0;
  for (const wire::JsonValue& value : values) {
    TESON_TRY_STATUS(value.expect_object());
    TESON_TRY(const int64_t millis, wire::required_int(value, "timestamp", {.min = 0}));
    TESON_TRY(std::string message, wire::required_string(value, "message"));
    const size_t bytes = message.size() + kEventOverheadBytes;
    if (bytes > kMaxEventBytes)
      return invalid(
          fmt::format("Log event too large: {} has {} bytes (26 of them overhead), which exceeds the limit of {}.",
                      value.path(), bytes, kMaxEventBytes));
    total += bytes;
    if (!events.empty() && millis < events.back().timestamp_ms)
      return invalid(
          fmt::format("Log events in a single PutLogEvents request must be in chronological order: {} is older "
                      "than the one before it.",
                      value.path()));
    events.push_back({millis, std::move(message)});
  }
  if (total > kMaxBatchBytes)
    return invalid(
        fmt::format("Upload too large: {} bytes (26 for each event beside its text) exceeds the limit of {}.", total,
                    kMaxBatchBytes));
  if (events.back().timestamp_ms - events.front().timestamp_ms > kDay.whole_millis())
    return invalid("The batch of log events in a single PutLogEvents request cannot span more than 24 hours.");
  return events;
}

Rejected reject_by_time(const std::vector<NewLogEvent>& events, Instant now, std::optional<int> retention_days) {
  const auto first_from = [&](int64_t millis) {
    return static_cast<size_t>(std::ranges::lower_bound(events, millis, {}, &NewLogEvent::timestamp_ms) -
                               events.begin());
  };
  Rejected rejected;
  rejected.too_old_end = first_from((now - kMaxAge).millis());
  if (retention_days) rejected.expired_end = first_from((now - kDay * *retention_days).millis());
  rejected.too_new_start = first_from((now + kMaxAhead).millis() + 1);
  return rejected;
}

std::span<const NewLogEvent> Rejected::accepted(const std::vector<NewLogEvent>& events) const {
  const size_t begin = std::max(too_old_end, expired_end);
  if (begin >= too_new_start) return {};
  return std::span(events).subspan(begin, too_new_start - begin);
}

}  // namespace teson::logs
