// Finished jobs and log streams, read from anywhere while the loop goes on.
//
// Thread: any, concurrently. Sees everything whose append() has returned. Limits: a page is at most `limit` rows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "domain/job.h"

namespace teson {

struct HistoryQuery {
  std::string queue;                      // empty: every queue
  std::optional<bool> succeeded;          // true SUCCEEDED, false FAILED, empty both
  std::string name_pattern;               // case-insensitive, one trailing '*' allowed; empty: any
  std::string definition;                 // name, or name:revision; empty: any
  std::optional<Instant> created_before;  // exclusive
  std::optional<Instant> created_after;   // exclusive
  std::optional<uint64_t> order_below;    // for the next page: only jobs of smaller Job::order
  int limit = 100;
};

struct LogStreamRecord {
  std::string name;
  AttemptId attempt;
  Instant created;
};

class History {
 public:
  virtual ~History() = default;

  // The finished jobs among `ids`, in the order asked; unknown ones are left out. A child of an array is there once it
  // has ended if it had an attempt, and comes without its spec, which is its array's (child_spec in domain/job.h).
  virtual Result<std::vector<Job>> find(std::span<const JobId> ids) const = 0;
  // Newest first (by Job::order, descending). No children of arrays.
  virtual Result<std::vector<Job>> list(const HistoryQuery& query) const = 0;

  // Streams of every attempt that began to run, of live jobs too.
  virtual Result<std::optional<LogStreamRecord>> find_stream(const std::string& name) const = 0;
  // Names that start with `prefix` and sort after `after`, in order.
  virtual Result<std::vector<LogStreamRecord>> list_streams(const std::string& prefix, const std::string& after,
                                                            int limit) const = 0;
};

}  // namespace teson
