// The whole live state as plain values: what a snapshot file holds and what recovery starts from.
#pragma once

#include <vector>

#include "domain/consumable.h"
#include "domain/environment.h"
#include "domain/job.h"
#include "domain/scheduling_policy.h"

namespace teson {

// What a share of a queue has used (core/scheduler/fair_share.h).
struct ShareRecord {
  std::string queue;
  std::string share;
  int64_t used = 0;
  Instant at;
};

struct Snapshot {
  Instant last_fact_at;
  uint64_t next_order = 1;
  uint64_t instances_started = 0;
  std::vector<ComputeEnvironment> environments;
  std::vector<Queue> queues;
  std::vector<JobDefinition> definitions;
  std::vector<Instance> instances;
  std::vector<Job> jobs;
  std::vector<SchedulingPolicy> policies;
  std::vector<ShareRecord> shares;
  std::vector<ConsumableResource> consumables;
};

}  // namespace teson
