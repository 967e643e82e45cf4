// A job, what it was asked to do, and its attempts. One Job serves every face: Batch job, training job, trial.
//
// The life of a job (docs/life-of-a-job.md has the table):
//
//   Pending --dependencies succeeded--> Runnable --placed--> Starting --agent says so--> Running
//      |                                 ^   |                  |                          |
//      |                                 |   +---cancelled---+  +-----attempt ended--------+
//      |                                 +------retry--------|------------|
//      +--dependency failed, cancelled---------> Failed <----+------------+--> Succeeded
//
// An array's parent goes from Pending to Spread, and ends when its last child has ended.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.h"
#include "domain/array.h"
#include "domain/ids.h"
#include "domain/resources.h"

namespace teson {

using Tags = std::map<std::string, std::string>;
using EnvironmentVariables = std::vector<std::pair<std::string, std::string>>;

// evaluateOnExit [AWS Batch API, EvaluateOnExit]: patterns are literal but for one trailing '*'.
enum class RetryAction { kRetry, kExit };
struct RetryRule {
  std::optional<std::string> on_status_reason;
  std::optional<std::string> on_reason;
  std::optional<std::string> on_exit_code;
  RetryAction action = RetryAction::kRetry;
};
struct RetryStrategy {
  int attempts = 1;
  std::vector<RetryRule> rules;
};

// So much of a consumable resource (domain/consumable.h) for as long as an attempt lives.
struct ConsumableAsk {
  std::string name;
  int64_t quantity = 0;

  friend bool operator==(const ConsumableAsk&, const ConsumableAsk&) = default;
};

struct JobSpec {
  std::string name;
  std::string queue;
  std::string definition;
  int definition_revision = 0;

  std::string image;  // "host" is the host's own file system
  std::vector<std::string> command;
  EnvironmentVariables environment;
  Resources resources;

  RetryStrategy retry;
  std::optional<Duration> attempt_timeout;  // from the attempt's start
  std::vector<JobId> depends_on;
  bool after_any = false;  // whatever became of what it waits for, it runs
  std::optional<ArraySpec> array;
  Tags tags;
  std::string share;  // of a fair-share queue: whose turn this job uses
  int priority = 0;   // within its share, larger first
  std::string owner;  // who submitted it (domain/user.h); empty: the first user
  std::vector<ConsumableAsk> consumables;

  // What AWS has no field for; the Batch face reads these from tags that begin "teson:".
  Duration grace = Duration::seconds(30);  // SIGTERM to SIGKILL
  bool interruptions_use_attempts = true;  // AWS's counting; false: a lost machine is not the job's fault
  std::string working_directory;           // empty: a fresh directory per attempt

  // The face's own JSON (container properties as returned to clients): kept, never read by the core.
  std::string document;
};

enum class EndCause {
  kExited,        // by itself: exit_code, or 128 + signal
  kOutOfMemory,   // the kernel's word for it: a cgroup event, not a guess
  kStopped,       // by its user
  kTimedOut,      // attempt_timeout
  kLost,          // its agent or host died
  kLaunchFailed,  // the program never ran: no exit code
};

struct Usage {
  int64_t peak_memory_bytes = 0;
  int64_t memory_limit_bytes = 0;  // 0: none was set
  Duration user_cpu;
  Duration system_cpu;
  Duration run;  // by the monotonic clock
};

struct AttemptEnd {
  EndCause cause = EndCause::kExited;
  std::optional<int> exit_code;  // absent where no program ended
  std::string reason;            // about the program (AWS container.reason): at most 255 characters
  std::string status_reason;  // about the attempt: "Essential container in task exited", "Host EC2 (...) terminated."
  Instant ended;
  Usage usage;
};

struct Attempt {
  int number = 0;
  InstanceId instance;
  std::string environment;
  Resources allocated;
  std::vector<int> gpus;   // host indexes, exclusively this attempt's
  std::string log_stream;  // "<definition>/default/<32 hex>"
  Instant placed;
  std::optional<Instant> started;
  std::optional<AttemptEnd> end;
  // It waits for the place of this attempt, which lives, and has none of its own yet (docs/decisions/0014).
  std::optional<AttemptId> behind;
};

namespace job_state {
struct Pending {
  std::set<JobId> waiting_for;
};
struct Runnable {
  Instant since;
};
struct Starting {
  Attempt attempt;
};
struct Running {
  Attempt attempt;
};
struct Succeeded {
  Instant stopped;
};
struct Failed {
  Instant stopped;
};
struct Spread {  // an array's parent whose children may start
  Instant since;
};
}  // namespace job_state

using JobState = std::variant<job_state::Pending, job_state::Runnable, job_state::Starting, job_state::Running,
                              job_state::Succeeded, job_state::Failed, job_state::Spread>;

enum class StopKind { kCancel, kTerminate };
struct StopRequest {
  StopKind kind = StopKind::kTerminate;
  std::string reason;
  Instant at;
};

struct Job {
  JobId id;
  uint64_t order = 0;  // submission sequence, unique and increasing: the FIFO key and the page key
  JobSpec spec;        // of a child: its array's, but for what only the array needs
  Instant created;
  JobState state;
  std::vector<Attempt> past;  // ended attempts, oldest first
  std::optional<ArrayProgress> array;
  std::optional<StopRequest> stop;
  std::string status_reason;  // why it ended, or why the last attempt did
};

// What an array's child is asked to do.
JobSpec child_spec(const JobSpec& array);
// A child of a live or finished array as a Job, if it never had an attempt; nullopt for others and absent ones.
std::optional<Job> unbegun_child(const Job& array, int index);

// The attempt that is starting or running; null otherwise.
const Attempt* live_attempt(const Job& job);
Attempt* live_attempt(Job& job);
bool is_finished(const Job& job);
// "PENDING" (a spread array too, as on AWS), "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED".
const char* status_name(const Job& job);
// Start of the latest attempt that began to run, and the end of the job.
std::optional<Instant> started_at(const Job& job);
std::optional<Instant> stopped_at(const Job& job);

}  // namespace teson
