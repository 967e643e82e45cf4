// Compute environments, their instances, queues and job definitions: the registry that jobs are placed by.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/money.h"
#include "base/time.h"
#include "domain/ids.h"
#include "domain/job.h"
#include "domain/resources.h"

namespace teson {

enum class Market { kOnDemand, kSpot };

struct InstanceType {
  std::string name;  // "m5.xlarge"; "host" for the machine itself
  Resources size;    // nominal; what the host cannot give is cut when an instance starts
  Money on_demand_hour;
  Money spot_hour;
};

struct ComputeEnvironment {
  std::string name;
  bool enabled = true;
  Market market = Market::kOnDemand;
  // Candidates, smallest first. Empty: each instance is made to its job's size (Fargate).
  std::vector<InstanceType> instance_types;
  int64_t min_vcpus = 0;
  int64_t max_vcpus = 0;
  int64_t desired_vcpus = 0;  // as asked; the scheduler keeps at least min_vcpus and what the jobs need
  Tags tags;
  Instant created;
  std::string document;  // the Batch face's JSON: kept and returned
};

// What is done with a job that has waited too long at the head of its queue [AWS Batch API, JobStateTimeLimitAction]:
// it is cancelled, and the next one has its turn.
struct TimeLimit {
  std::string reason;  // how its statusReason begins: "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"
  int64_t max_seconds = 0;
};

struct Queue {
  std::string name;
  bool enabled = true;
  bool deleting = false;                  // goes once its last job has ended; takes none and starts none meanwhile
  int priority = 0;                       // larger first
  std::vector<std::string> environments;  // in order of preference
  std::string policy;                     // a SchedulingPolicy's name; empty: first in, first out
  std::vector<TimeLimit> time_limits;
  Tags tags;
  Instant created;
  std::string document;
};

struct JobDefinition {
  std::string name;
  int revision = 0;
  bool active = true;
  Tags tags;
  Instant created;
  std::string document;  // the registered request as JSON
  std::string owner;     // who registered it; empty: the first user
};

// An instance that is being taken back: nothing is placed on it any more, what runs on it is told to stop, and it ends
// with its last attempt (docs/preemption.md).
struct Interruption {
  Instant at;
  Instant until;                 // when the last of its attempts is killed, if it has not ended by then
  std::string reason;            // "interrupted for on-demand job 1a2b3c4d (train)"
  std::optional<JobId> for_job;  // whose room it makes; of an array's child: the array's; nullopt: nobody's
};

// How every Interruption::reason begins.
inline constexpr std::string_view kInterrupted = "interrupted ";

struct Instance {
  InstanceId id;
  std::string environment;
  std::string type;
  Market market = Market::kOnDemand;
  Resources size;
  Money price_hour;
  Instant started;
  std::optional<Interruption> interruption = {};
};

// Which images this site can run, first match wins. Patterns know '*' and '?'.
enum class RuntimeKind { kProcess };
struct ImageRule {
  std::string pattern;
  RuntimeKind runtime = RuntimeKind::kProcess;
};

// What this machine offers and how it is to be used: from its configuration at start-up, not journaled.
struct Site {
  Resources host;                                  // usable, not nominal
  Duration instance_idle = Duration::seconds(60);  // an idle instance above min_vcpus ends after this long
  bool preemption = true;                          // on-demand jobs may interrupt spot instances
  std::vector<ImageRule> images = {{"host", RuntimeKind::kProcess}};
};

std::optional<RuntimeKind> runtime_for(const Site& site, const std::string& image);
// Shell-style match with '*' (any run, '/' too) and '?'.
bool glob_match(std::string_view pattern, std::string_view text);

}  // namespace teson
