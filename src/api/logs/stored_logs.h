// Groups that clients made, as the operations need them: a thin face over the store (ports/log_store.h).
//
// Thread: any, concurrently. Blocks: worker threads only.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/logs/log_group.h"
#include "domain/job.h"
#include "ports/clock.h"
#include "ports/log_store.h"

namespace teson::logs {

class StoredLogs {
 public:
  // Both must outlive this and every group that it opened.
  StoredLogs(LogStore& store, const Clock& clock) : store_(store), clock_(clock) {}

  Result<std::optional<StoredLogGroup>> find_group(const std::string& name) const;
  // Names that start with `prefix` and sort after `after`, in order.
  Result<std::vector<StoredLogGroup>> list_groups(const std::string& prefix, const std::string& after, int limit) const;
  // nullptr: there is no such group.
  Result<std::unique_ptr<LogGroup>> open_group(const std::string& name) const;

  // kConflict: it exists.
  Status create_group(const std::string& name, const Tags& tags);
  // kNotFound for a group or stream that does not exist, here and below.
  Status delete_group(const std::string& name);
  Status set_retention(const std::string& name, std::optional<int> days);
  Status set_tags(const std::string& name, const Tags& tags);
  Status create_stream(const std::string& group, const std::string& name);
  Status delete_stream(const std::string& group, const std::string& name);
  // Events in order of time. Durable when it returns.
  Status append(const std::string& group, const std::string& stream, std::span<const NewLogEvent> events);

 private:
  LogStore& store_;
  const Clock& clock_;
};

}  // namespace teson::logs
