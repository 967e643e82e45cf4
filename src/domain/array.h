// Array jobs: one submission, many children that differ by their index alone [AWS Batch user guide, "Array jobs"].
//
// A child is a Job of its own only from its first attempt to its end; before and after, a letter tells all of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "domain/ids.h"

namespace teson {

inline constexpr int kMinArraySize = 2;
inline constexpr int kMaxArraySize = 10'000;

struct ArraySpec {
  int size = 0;               // indexes are 0 to size - 1
  std::vector<int> only;      // ascending: the other children do not exist (a rerun). Empty: all do
  bool sequential = false;    // a child waits for the one before it
  std::vector<JobId> n_to_n;  // a child waits for the child of the same index of each of these arrays
  int throttle = 0;           // at most so many live attempts at once; 0: no limit
};

namespace child {
inline constexpr char kAbsent = '-';
inline constexpr char kPending = 'P';
inline constexpr char kRunnable = 'R';
inline constexpr char kStarting = 'S';
inline constexpr char kRunning = 'N';
inline constexpr char kSucceeded = '+';
inline constexpr char kFailed = 'F';
}  // namespace child

// Why these children failed without an attempt.
struct ChildrenFailure {
  int first = 0;
  int last = 0;  // inclusive; those between that had attempts are not meant
  std::string reason;
  Instant at;
};

struct ArrayProgress {
  std::string children;  // a letter of child:: per index
  std::vector<ChildrenFailure> failures;
};

// What DescribeJobs calls statusSummary.
struct StatusSummary {
  int pending = 0, runnable = 0, starting = 0, running = 0, succeeded = 0, failed = 0;
};
StatusSummary summary_of(const ArrayProgress& progress);

// Every child that exists is pending.
ArrayProgress fresh_progress(const ArraySpec& spec);
// The failure that tells of this child; null if it had attempts or has not failed.
const ChildrenFailure* failure_of(const ArrayProgress& progress, int index);
// "PENDING" and so on; null for one that does not exist.
const char* child_status_name(char letter);

}  // namespace teson
