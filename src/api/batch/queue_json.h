// Job queues between AWS's JSON and values. Pure; any thread (changes run on the loop's).
#pragma once

#include <functional>

#include "api/batch/arn.h"
#include "api/batch/validate.h"
#include "control/registry_view.h"

namespace teson::batch {

// CreateJobQueue. Its environments must exist, and be all EC2 or all Fargate.
Result<Queue> parse_create_queue(const Json& body, const Arns& arns, const RegistryView& registry);

struct QueueUpdate {
  std::string name;
  std::function<Status(Queue&)> change;
};
Result<QueueUpdate> parse_update_queue(const Json& body, const Arns& arns, const RegistryView& registry);

// JobQueueDetail.
Json queue_detail(const Queue& queue, const Arns& arns);

}  // namespace teson::batch
