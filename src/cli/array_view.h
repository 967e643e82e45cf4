// Array jobs as the server describes them: how far they are, and which of their children failed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/jobs.h"
#include "cli/table.h"

namespace teson::cli {

// What DescribeJobs says in arrayProperties and tags of an array (not of a child). A rerun has fewer children than its
// size says: only those that failed before.
struct ArrayView {
  int64_t size = 0;
  int64_t waiting = 0;  // SUBMITTED, PENDING, RUNNABLE
  int64_t running = 0;  // STARTING, RUNNING
  int64_t succeeded = 0;
  int64_t failed = 0;
  int64_t throttle = 0;  // 0: no limit

  int64_t ended() const { return succeeded + failed; }
  int64_t children() const { return waiting + running + ended(); }
};

// nullopt: no array.
std::optional<ArrayView> array_view(const Json& detail);
// Of an array's child; nullopt: it is none.
std::optional<int64_t> child_index(const Json& detail);

// "120 of 1000 ended, 7 failed, 8 running, 872 waiting".
std::string progress_text(const ArrayView& array);
// "100 children, at most 8 at once".
std::string size_text(const ArrayView& array);

// JobSummaries of an array's children of one status, by index, at most `limit`.
Outcome<std::vector<Json>> list_children(Client& client, const std::string& array, const std::string& status,
                                         size_t limit);
// JobDetails of the failed children with the lowest indexes.
constexpr size_t kShownFailures = 10;
Outcome<std::vector<Json>> first_failures(Client& client, const std::string& array);
// CHILD, ATTEMPTS, EXIT and REASON of each.
Table failures_table(const std::vector<Json>& failures);

}  // namespace teson::cli
