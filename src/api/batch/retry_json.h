// retryStrategy and timeout between JSON and values [AWS Batch API: RetryStrategy, EvaluateOnExit, JobTimeout].
#pragma once

#include <optional>

#include "api/batch/validate.h"
#include "domain/job.h"

namespace teson::batch {

// `object` is the request that may have a member "retryStrategy"; absent is nullopt.
Result<std::optional<RetryStrategy>> optional_retry_strategy(const JsonValue& object);
Json to_json(const RetryStrategy& strategy);

// "timeout": {"attemptDurationSeconds": >= 60}.
Result<std::optional<Duration>> optional_timeout(const JsonValue& object);
Json timeout_json(Duration timeout);

}  // namespace teson::batch
