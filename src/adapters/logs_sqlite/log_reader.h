// The reading half of the log store: read-only connections, any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "adapters/sqlite/read_pool.h"
#include "ports/log_store.h"

namespace teson {

struct ExpiringStream {
  int64_t group_id = 0;
  int64_t id = 0;
  int64_t expired_before_ms = 0;
};

class LogReader {
 public:
  explicit LogReader(sqlite::ReadPool& pool) : pool_(pool) {}

  Result<std::optional<StoredLogGroup>> find_group(const std::string& name) const;
  Result<std::vector<StoredLogGroup>> list_groups(const std::string& prefix, const std::string& after, int limit) const;
  Result<std::optional<StoredLogStream>> find_stream(const std::string& group, const std::string& name) const;
  Result<std::vector<StoredLogStream>> list_streams(const std::string& group, const std::string& prefix,
                                                    const std::string& after, int limit) const;
  Result<std::vector<StoredLogEvent>> read_events(const std::string& group, const std::string& stream,
                                                  const LogRead& read, Instant now) const;
  Result<bool> is_place(const std::string& group, const std::string& stream, LogPosition position) const;
  // Streams that hold events which have expired by `now`.
  Result<std::vector<ExpiringStream>> expiring_streams(Instant now) const;

 private:
  sqlite::ReadPool& pool_;
};

}  // namespace teson
