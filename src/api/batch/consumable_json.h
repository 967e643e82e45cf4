// Consumable resources on the wire [AWS Batch API]. Pure; any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/batch/job_json.h"
#include "core/state/state.h"
#include "domain/consumable.h"

namespace teson::batch {

Result<ConsumableResource> parse_create_consumable(const Json& body);

struct ConsumableUpdate {
  std::string name;
  std::function<Status(ConsumableResource&)> change;
};
Result<ConsumableUpdate> parse_update_consumable(const Json& body, const Arns& arns);

// DescribeConsumableResource's answer, and an entry of ListConsumableResources.
Json consumable_detail(const ConsumableState& consumable, const Arns& arns);
Json consumable_summary(const ConsumableState& consumable, const Arns& arns);

// A pattern for names in lower case (matches_pattern); empty: any.
Result<std::string> parse_consumable_filter(const JsonValue& body);

struct ConsumableJobsQuery {
  std::string name;
  std::string status;        // empty: any
  std::string name_pattern;  // a trailing '*' stands for any rest; empty: any
};
Result<ConsumableJobsQuery> parse_consumable_jobs(const Json& body, const Arns& arns);
bool matches(const ConsumableJobsQuery& query, const Job& job);
// An entry of ListJobsByConsumableResource.
Json consumable_job(const JobView& view, const std::string& consumable, const Arns& arns);

// consumableResourceProperties and its override; nullopt where the member is absent.
Result<std::optional<std::vector<ConsumableAsk>>> optional_consumables(const JsonValue& body, const char* field);
Json consumables_json(const std::vector<ConsumableAsk>& asks);

}  // namespace teson::batch
