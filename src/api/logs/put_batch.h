// PutLogEvents: the limits of a batch, and which of its events are too old or too new to be kept.
// Source: the PutLogEvents page of the CloudWatch Logs API. Pure; any thread.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "ports/log_store.h"
#include "wire/json.h"

namespace teson::logs {

// 1 to 10,000 events in order of time, within 24 h, 256 KiB each and 1 MiB together; each counts its UTF-8 bytes
// and 26.
Result<std::vector<NewLogEvent>> batch_field(const wire::JsonValue& body);

struct Rejected {
  size_t too_old_end = 0;    // events before this index are more than 14 days old
  size_t expired_end = 0;    // ... older than the group's retention
  size_t too_new_start = 0;  // events from here on are more than 2 h in the future

  std::span<const NewLogEvent> accepted(const std::vector<NewLogEvent>& events) const;
};
Rejected reject_by_time(const std::vector<NewLogEvent>& events, Instant now, std::optional<int> retention_days);

}  // namespace teson::logs
