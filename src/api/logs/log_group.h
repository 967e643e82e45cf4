// A log group as the operations see it: its streams by name, and each stream's events. Two kinds: the attempts' own
// output files (attempt_logs.h), and what clients put into the store (stored_logs.h).
//
// Thread: any, concurrently. Blocks on files or the store: worker threads only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/logs/event_source.h"
#include "base/result.h"
#include "domain/ids.h"

namespace teson::logs {

// Absent while there is no event.
struct StreamTimes {
  std::optional<int64_t> first_millis;
  std::optional<int64_t> last_millis;
  std::optional<int64_t> last_ingested_millis;
};

struct StreamInfo {
  std::string name;
  int64_t created_millis = 0;
  std::optional<AttemptId> attempt;  // of whose output it is
  StreamTimes times;                 // of stored streams, as they were when it was looked up
};

class LogGroup {
 public:
  virtual ~LogGroup() = default;

  virtual Result<std::optional<StreamInfo>> find(const std::string& name) const = 0;
  // Names that start with `prefix` and sort after `after`, in order.
  virtual Result<std::vector<StreamInfo>> list(const std::string& prefix, const std::string& after,
                                               int limit) const = 0;
  // kDenied: what lies in the stream's place is no log, and never will be one by itself.
  virtual Result<std::unique_ptr<EventSource>> open(const StreamInfo& stream) const = 0;
  // None for a stream that open() denies: one such must not spoil lists for all others.
  virtual Result<StreamTimes> times(const StreamInfo& stream) const = 0;
  // True: no event of the stream is as late as `millis`, found out without opening it. False promises nothing.
  virtual bool is_surely_before(const StreamInfo& stream, int64_t millis) const = 0;
};

// Every stream with the prefix. Memory: some 200 bytes each.
Result<std::vector<StreamInfo>> all_streams(const LogGroup& group, const std::string& prefix);

}  // namespace teson::logs
