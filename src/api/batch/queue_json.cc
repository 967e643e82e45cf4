#include "api/batch/queue_json.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "api/batch/environment_json.h"
#include "base/try.h"

namespace teson::batch {
namespace {

constexpr size_t kMaxEnvironments = 3;

Status refuse_unsupported(const JsonValue& body) {
  return refuse_member(body, "serviceEnvironmentOrder", "service environments are");
}

constexpr size_t kMaxTimeLimits = 10;
constexpr int64_t kMinSeconds = 600;
constexpr int64_t kMaxSeconds = 86'400;

// Absent: as it was.
Result<std::optional<std::vector<TimeLimit>>> parse_time_limits(const JsonValue& body) {
  if (!wire::field(body, "jobStateTimeLimitActions")) return std::nullopt;
  TESON_TRY(const auto entries, wire::optional_object_array(body, "jobStateTimeLimitActions", kMaxTimeLimits));
  std::vector<TimeLimit> out;
  for (const JsonValue& entry : entries) {
    TimeLimit limit;
    TESON_TRY(limit.reason,
              wire::required_enum(
                  entry, "reason",
                  {"CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE",
                   "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT", "MISCONFIGURATION:SERVICE_ROLE_PERMISSIONS"}));
    TESON_TRY_STATUS(wire::required_enum(entry, "state", {"RUNNABLE"}));
    TESON_TRY_STATUS(wire::required_enum(entry, "action", {"CANCEL"}));
    TESON_TRY(limit.max_seconds, wire::required_int(entry, "maxTimeSeconds", {kMinSeconds, kMaxSeconds}));
    out.push_back(std::move(limit));
  }
  return out;
}

// order -> environment name: sorted as they are to be tried.
using Order = std::map<int64_t, std::string>;

Result<Order> parse_order(const std::vector<JsonValue>& entries, const Arns& arns, const RegistryView& registry) {
  Order out;
  std::optional<bool> fargate;
  for (const JsonValue& entry : entries) {
    TESON_TRY_STATUS(entry.expect_object());
    TESON_TRY(const int64_t order, wire::required_int(entry, "order", {INT32_MIN, INT32_MAX}));
    TESON_TRY(const std::string text, wire::required_string(entry, "computeEnvironment"));
    TESON_TRY(std::string name, arns.environment_name(text, "computeEnvironmentOrder"));
    const auto environment = registry.environment(name);
    if (!environment)
      return invalid(fmt::format("'computeEnvironmentOrder': compute environment '{}' does not exist", name));
    if (fargate.value_or(is_fargate(*environment)) != is_fargate(*environment)) {
      return invalid("'computeEnvironmentOrder': EC2 and Fargate environments cannot be mixed in a queue");
    }
    fargate = is_fargate(*environment);
    for (const auto& [other_order, other] : out) {
      if (other == name)
        return invalid(fmt::format("'computeEnvironmentOrder': compute environment '{}' is given twice", name));
    }
    if (!out.emplace(order, std::move(name)).second) {
      return invalid(fmt::format("'computeEnvironmentOrder': order {} is given twice", order));
    }
  }
  return out;
}

void set_order(const Order& order, Queue& queue) {
  Json list = Json::array();
  queue.environments.clear();
  for (const auto& [number, name] : order) {
    queue.environments.push_back(name);
    list.push_back(number);
  }
  queue.document = wire::json_text({{"order", std::move(list)}});
}

}  // namespace

Result<Queue> parse_create_queue(const Json& body, const Arns& arns, const RegistryView& registry) {
  const JsonValue value(body, "");
  Queue out;
  TESON_TRY(out.name, required_name(value, "jobQueueName"));
  TESON_TRY_STATUS(refuse_unsupported(value));
  TESON_TRY(const auto state, wire::optional_enum(value, "state", {"ENABLED", "DISABLED"}));
  out.enabled = state.value_or("ENABLED") == "ENABLED";
  TESON_TRY(const int64_t priority, wire::required_int(value, "priority", {0, INT32_MAX}));
  out.priority = static_cast<int>(priority);
  TESON_TRY(const auto limits, parse_time_limits(value));
  out.time_limits = limits.value_or(std::vector<TimeLimit>());
  TESON_TRY(const auto policy, wire::optional_string(value, "schedulingPolicyArn"));
  if (policy) {
    TESON_TRY(out.policy, arns.policy_name(*policy, "schedulingPolicyArn"));
  }
  TESON_TRY(out.tags, optional_tags(value, "tags"));
  TESON_TRY(const auto entries, wire::required_array(value, "computeEnvironmentOrder", 1, kMaxEnvironments));
  TESON_TRY(const Order order, parse_order(entries, arns, registry));
  set_order(order, out);
  return out;
}

Result<QueueUpdate> parse_update_queue(const Json& body, const Arns& arns, const RegistryView& registry) {
  const JsonValue value(body, "");
  QueueUpdate out;
  TESON_TRY(const std::string name, wire::required_string(value, "jobQueue"));
  TESON_TRY(out.name, arns.queue_name(name, "jobQueue"));
  TESON_TRY_STATUS(refuse_unsupported(value));
  TESON_TRY(const auto state, wire::optional_enum(value, "state", {"ENABLED", "DISABLED"}));
  TESON_TRY(const auto priority, wire::optional_int(value, "priority", {0, INT32_MAX}));
  TESON_TRY(const auto limits, parse_time_limits(value));
  TESON_TRY(const auto arn, wire::optional_string(value, "schedulingPolicyArn"));
  std::optional<std::string> policy;
  if (arn) {
    TESON_TRY(policy, arns.policy_name(*arn, "schedulingPolicyArn"));
  }
  std::optional<Order> order;
  if (wire::field(value, "computeEnvironmentOrder")) {
    TESON_TRY(const auto entries, wire::required_array(value, "computeEnvironmentOrder", 1, kMaxEnvironments));
    TESON_TRY(Order parsed, parse_order(entries, arns, registry));
    order = std::move(parsed);
  }
  out.change = [=](Queue& queue) -> Status {
    if (state) queue.enabled = *state == "ENABLED";
    if (priority) queue.priority = static_cast<int>(*priority);
    if (order) set_order(*order, queue);
    if (policy) queue.policy = *policy;
    if (limits) queue.time_limits = *limits;
    return {};
  };
  return out;
}

Json queue_detail(const Queue& queue, const Arns& arns) {
  const auto document = wire::parse_json_object(queue.document);
  const Json numbers = document ? document->value("order", Json::array()) : Json::array();
  Json order = Json::array();
  for (size_t i = 0; i < queue.environments.size(); ++i) {
    const Json number = numbers.size() == queue.environments.size() ? numbers[i] : Json(i + 1);
    order.push_back({{"order", number}, {"computeEnvironment", arns.environment(queue.environments[i])}});
  }
  Json out = {{"jobQueueName", queue.name},
              {"jobQueueArn", arns.queue(queue.name)},
              {"state", queue.enabled ? "ENABLED" : "DISABLED"},
              {"status", queue.deleting ? "DELETING" : "VALID"},
              {"statusReason", "JobQueue Healthy"},
              {"priority", queue.priority},
              {"computeEnvironmentOrder", std::move(order)},
              {"tags", queue.tags}};
  Json limits = Json::array();
  for (const TimeLimit& limit : queue.time_limits) {
    limits.push_back(
        {{"reason", limit.reason}, {"state", "RUNNABLE"}, {"maxTimeSeconds", limit.max_seconds}, {"action", "CANCEL"}});
  }
  out["jobStateTimeLimitActions"] = std::move(limits);
  if (!queue.policy.empty()) out["schedulingPolicyArn"] = arns.policy(queue.policy);
  return out;
}

}  // namespace teson::batch
