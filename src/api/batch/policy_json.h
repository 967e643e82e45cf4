// Fair-share scheduling policies on the wire [AWS Batch API, FairsharePolicy]. Pure; any thread.
#pragma once

#include <functional>
#include <string>

#include "api/batch/arn.h"
#include "api/batch/validate.h"
#include "domain/scheduling_policy.h"

namespace teson::batch {

Result<SchedulingPolicy> parse_create_policy(const Json& body);

struct PolicyUpdate {
  std::string name;
  std::function<Status(SchedulingPolicy&)> change;
};
Result<PolicyUpdate> parse_update_policy(const Json& body, const Arns& arns);

// SchedulingPolicyDetail.
Json policy_detail(const SchedulingPolicy& policy, const Arns& arns);

// SubmitJob's shareIdentifier: letters and digits, no asterisk; empty where there is none.
Result<std::string> parse_share_identifier(const JsonValue& body);

}  // namespace teson::batch
