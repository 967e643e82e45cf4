// Facts: all that ever happens to the state. The journal keeps them in order; recovery only applies them.
//
// A fact records what was decided, never how: policies may change without breaking an old journal.
// New kinds are appended; a field is never given another meaning (docs/decisions/0003).
#pragma once

#include <string>
#include <variant>

#include "domain/consumable.h"
#include "domain/environment.h"
#include "domain/job.h"
#include "domain/scheduling_policy.h"

namespace teson {

namespace fact {
struct EnvironmentPut {
  ComputeEnvironment value;
};
struct EnvironmentDeleted {
  std::string name;
};
struct QueuePut {
  Queue value;
};
struct QueueDeleted {
  std::string name;
};
struct DefinitionPut {
  JobDefinition value;
};
struct JobSubmitted {
  JobId id;
  JobSpec spec;
  std::vector<JobId> waiting_for;    // dependencies that had not succeeded yet
  std::vector<int> doomed_children;  // whose counterpart in an array that has ended (N_TO_N) had failed
};
struct JobTagged {
  JobId id;
  Tags tags;                    // the whole new set
  std::optional<int> throttle;  // of an array, if it changes
};
// Pending -> Runnable.
struct JobReady {
  JobId id;
};
struct InstanceStarted {
  Instance value;
};
struct InstanceEnded {
  InstanceId id;
  std::string reason;
};
// Runnable -> Starting: the intent, committed before anything is launched.
struct AttemptPlaced {
  JobId id;
  Attempt attempt;
};
// Starting -> Running.
struct AttemptStarted {
  AttemptId id;
  Instant started;
  std::string log_stream;
};
enum class Verdict { kRetry, kSucceeded, kFailed };
// Starting, Running -> Runnable, Succeeded or Failed.
struct AttemptEnded {
  AttemptId id;
  AttemptEnd end;
  Verdict verdict = Verdict::kFailed;
  std::string status_reason;  // the job's, from now on
};
struct StopRequested {
  JobId id;
  StopRequest request;
};
// Pending, Runnable -> Failed without an attempt: cancelled, or a dependency failed.
struct JobFailed {
  JobId id;
  std::string status_reason;
};
// The array's children first to last that had no attempt: Pending, Runnable -> Failed.
struct ChildrenFailed {
  JobId id;
  int first = 0;
  int last = 0;
  std::string status_reason;
};
struct PolicyPut {
  SchedulingPolicy value;
};
struct PolicyDeleted {
  std::string name;
};
struct ConsumablePut {
  ConsumableResource value;
};
struct ConsumableDeleted {
  std::string name;
};
// Its live attempts are stopped; it takes no more and ends with the last of them.
struct InstanceInterrupted {
  InstanceId id;
  Instant until;
  std::string reason;
  std::optional<JobId> for_job;
};
}  // namespace fact

using FactBody =
    std::variant<fact::EnvironmentPut, fact::EnvironmentDeleted, fact::QueuePut, fact::QueueDeleted,
                 fact::DefinitionPut, fact::JobSubmitted, fact::JobTagged, fact::JobReady, fact::InstanceStarted,
                 fact::InstanceEnded, fact::AttemptPlaced, fact::AttemptStarted, fact::AttemptEnded,
                 fact::StopRequested, fact::JobFailed, fact::ChildrenFailed, fact::PolicyPut, fact::PolicyDeleted,
                 fact::ConsumablePut, fact::ConsumableDeleted, fact::InstanceInterrupted>;

struct Fact {
  Instant at;
  FactBody body;
};

}  // namespace teson
