// Log groups and streams that clients make and fill themselves (CloudWatch Logs: PutLogEvents and its family).
//
// The attempts' own output is not in here: that is files (attempt_dir/), named by History's streams. Lists of the two
// are easy to merge: both are sorted by name (bytes) and paged by an `after` cursor. Thread: any, concurrently. Writing
// calls return after their change is durable. Failure: kNotFound for a group or stream that is not there, kConflict for
// one that is, kUnavailable for a full disk (nothing was kept), kIo otherwise. Limits on names, sizes and times are the
// caller's business.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "domain/job.h"

namespace teson {

struct StoredLogGroup {
  std::string name;
  Instant created;
  std::optional<int> retention_days;  // absent: kept for ever
  Tags tags;
  int64_t stored_bytes = 0;  // of messages, those that the next sweep will remove too
};

struct StoredLogStream {
  std::string name;
  Instant created;
  // Absent while there is no event. Expired events that no sweep has removed yet count.
  std::optional<int64_t> first_event_ms;
  std::optional<int64_t> last_event_ms;
  std::optional<int64_t> last_ingested_ms;
};

// Before the event that has it. Events are in the order of their positions: by time, then as they came. The place after
// an event is {timestamp_ms, index + 1}.
struct LogPosition {
  int64_t timestamp_ms = 0;
  uint64_t index = 0;  // counts the stream's events from 1, never used twice

  constexpr auto operator<=>(const LogPosition&) const = default;
};
inline constexpr LogPosition kFirstLogPosition{std::numeric_limits<int64_t>::min(), 0};
inline constexpr LogPosition kPastLastLogPosition{std::numeric_limits<int64_t>::max(),
                                                  std::numeric_limits<uint64_t>::max()};

struct NewLogEvent {
  int64_t timestamp_ms = 0;
  std::string message;
};

struct StoredLogEvent {
  LogPosition position;
  int64_t ingested_ms = 0;
  std::string message;
};

enum class LogEnd { kOldest, kNewest };

struct LogRead {
  LogPosition from = kFirstLogPosition;      // inclusive
  LogPosition until = kPastLastLogPosition;  // exclusive
  LogEnd take = LogEnd::kOldest;             // which events, where not all of the range fit; they are ascending always
  size_t max_events = 10'000;
  size_t max_bytes = size_t{1} << 20;  // of messages and 26 bytes for each; one event is returned whatever its size
};

class LogStore {
 public:
  virtual ~LogStore() = default;

  virtual Status create_group(const std::string& name, const Tags& tags, Instant now) = 0;
  virtual Status delete_group(const std::string& name) = 0;  // with its streams and their events
  virtual Status set_retention(const std::string& group, std::optional<int> days) = 0;
  virtual Status set_tags(const std::string& group, const Tags& tags) = 0;  // the whole new set
  virtual Result<std::optional<StoredLogGroup>> find_group(const std::string& name) const = 0;
  // Names that start with `prefix` and sort after `after`, in order.
  virtual Result<std::vector<StoredLogGroup>> list_groups(const std::string& prefix, const std::string& after,
                                                          int limit) const = 0;

  virtual Status create_stream(const std::string& group, const std::string& name, Instant now) = 0;
  virtual Status delete_stream(const std::string& group, const std::string& name) = 0;
  virtual Result<std::optional<StoredLogStream>> find_stream(const std::string& group,
                                                             const std::string& name) const = 0;
  virtual Result<std::vector<StoredLogStream>> list_streams(const std::string& group, const std::string& prefix,
                                                            const std::string& after, int limit) const = 0;

  // All of them or none, in any order of time.
  virtual Status put_events(const std::string& group, const std::string& stream, std::span<const NewLogEvent> events,
                            Instant now) = 0;
  // Without what the group's retention has let expire by `now`.
  virtual Result<std::vector<StoredLogEvent>> read_events(const std::string& group, const std::string& stream,
                                                          const LogRead& read, Instant now) const = 0;
  // Is there an event right at this position, or one that ends there? For tokens that clients hand back.
  virtual Result<bool> is_place(const std::string& group, const std::string& stream, LogPosition position) const = 0;

  // Removes what has expired, and what deletions left behind. Returns the number of events. Takes its time, in slices:
  // other calls go on meanwhile.
  virtual Result<uint64_t> sweep(Instant now) = 0;
};

}  // namespace teson
