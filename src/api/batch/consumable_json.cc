#include "api/batch/consumable_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/try.h"

namespace teson::batch {
namespace {

constexpr int64_t kMaxQuantity = 1'000'000'000'000;
constexpr size_t kMaxAsks = 100;
constexpr size_t kMaxToken = 256;
constexpr std::array<std::string_view, 7> kStatuses = {"SUBMITTED", "PENDING",   "RUNNABLE", "STARTING",
                                                       "RUNNING",   "SUCCEEDED", "FAILED"};

// A definition is read without knowing whose server it is for: of an ARN the name counts.
std::string_view local_name(std::string_view text) {
  constexpr std::string_view kKind = ":consumable-resource/";
  const size_t at = text.starts_with("arn:aws:batch:") ? text.find(kKind) : std::string_view::npos;
  return at == std::string_view::npos ? text : text.substr(at + kKind.size());
}

const char* kind_name(ConsumableKind kind) {
  return kind == ConsumableKind::kReplenishable ? "REPLENISHABLE" : "NON_REPLENISHABLE";
}

Status apply_quantity(ConsumableResource& value, const std::string& operation, int64_t quantity) {
  int64_t total = quantity;
  if (operation == "ADD") total = value.total + quantity;
  if (operation == "REMOVE") total = value.total - quantity;
  if (total < 0) {
    return invalid(fmt::format("'quantity' is {}: consumable resource '{}' has only {} to remove", quantity, value.name,
                               value.total));
  }
  if (total > kMaxQuantity) {
    return invalid(fmt::format("'quantity' is {}: consumable resource '{}' would have {}, and {} is the most", quantity,
                               value.name, total, kMaxQuantity));
  }
  value.total = total;
  return {};
}

}  // namespace

Result<ConsumableResource> parse_create_consumable(const Json& body) {
  const JsonValue value(body, "");
  ConsumableResource out;
  TESON_TRY(out.name, required_name(value, "consumableResourceName"));
  TESON_TRY(const auto total, wire::optional_int(value, "totalQuantity", {0, kMaxQuantity}));
  out.total = total.value_or(0);
  TESON_TRY(const auto kind, wire::optional_enum(value, "resourceType", {"REPLENISHABLE", "NON_REPLENISHABLE"}));
  if (kind == "NON_REPLENISHABLE") out.kind = ConsumableKind::kNonReplenishable;
  TESON_TRY(out.tags, optional_tags(value, "tags"));
  return out;
}

Result<ConsumableUpdate> parse_update_consumable(const Json& body, const Arns& arns) {
  const JsonValue value(body, "");
  ConsumableUpdate out;
  TESON_TRY(const std::string name, wire::required_string(value, "consumableResource"));
  TESON_TRY(out.name, arns.consumable_name(name, "consumableResource"));
  TESON_TRY(const std::string operation, wire::required_enum(value, "operation", {"SET", "ADD", "REMOVE"}));
  if (!wire::field(value, "quantity")) return invalid("'quantity' is missing: how much to set, add or remove");
  TESON_TRY(const auto quantity, wire::optional_int(value, "quantity", {0, kMaxQuantity}));
  TESON_TRY(const auto token, wire::optional_string(value, "clientToken", kMaxToken));
  out.change = [operation, quantity = quantity.value_or(0),
                token = token.value_or("")](ConsumableResource& consumable) -> Status {
    // The same request again: its first answer was lost.
    if (!token.empty() && token == consumable.last_token) return {};
    TESON_TRY_STATUS(apply_quantity(consumable, operation, quantity));
    consumable.last_token = token;
    return {};
  };
  return out;
}

Json consumable_detail(const ConsumableState& consumable, const Arns& arns) {
  const ConsumableResource& value = consumable.value;
  return {{"consumableResourceName", value.name},
          {"consumableResourceArn", arns.consumable(value.name)},
          {"totalQuantity", value.total},
          {"inUseQuantity", consumable.in_use},
          {"availableQuantity", consumable.available()},
          {"resourceType", kind_name(value.kind)},
          {"createdAt", value.created.millis()},
          {"tags", value.tags}};
}

Json consumable_summary(const ConsumableState& consumable, const Arns& arns) {
  const ConsumableResource& value = consumable.value;
  return {{"consumableResourceName", value.name},
          {"consumableResourceArn", arns.consumable(value.name)},
          {"totalQuantity", value.total},
          {"inUseQuantity", consumable.in_use},
          {"resourceType", kind_name(value.kind)}};
}

Result<std::string> parse_consumable_filter(const JsonValue& body) {
  TESON_TRY(const auto filters, wire::optional_object_array(body, "filters", 1));
  if (filters.empty()) return std::string();
  TESON_TRY_STATUS(wire::required_enum(filters.front(), "name", {"CONSUMABLE_RESOURCE_NAME"}));
  TESON_TRY(const auto values, wire::required_array(filters.front(), "values", 1, 1));
  TESON_TRY(std::string text, values.front().as_string({1}));
  return lower(std::move(text));
}

Result<ConsumableJobsQuery> parse_consumable_jobs(const Json& body, const Arns& arns) {
  const JsonValue value(body, "");
  ConsumableJobsQuery out;
  TESON_TRY(const std::string name, wire::required_string(value, "consumableResource"));
  TESON_TRY(out.name, arns.consumable_name(name, "consumableResource"));
  TESON_TRY(const auto filters, wire::optional_object_array(value, "filters", 2));
  for (const JsonValue& filter : filters) {
    TESON_TRY(const std::string kind, wire::required_enum(filter, "name", {"JOB_STATUS", "JOB_NAME"}));
    TESON_TRY(const auto values, wire::required_array(filter, "values", 1, 1));
    TESON_TRY(std::string text, values.front().as_string({1}));
    if (kind == "JOB_NAME") {
      out.name_pattern = lower(std::move(text));
    } else if (std::ranges::find(kStatuses, text) == kStatuses.end()) {
      return values.front().refuse(fmt::format("Member must be one of {}", fmt::join(kStatuses, ", ")));
    } else {
      out.status = std::move(text);
    }
  }
  return out;
}

bool matches(const ConsumableJobsQuery& query, const Job& job) {
  if (!query.status.empty() && query.status != status_name(job)) return false;
  return query.name_pattern.empty() || matches_pattern(query.name_pattern, lower(job.spec.name));
}

Json consumable_job(const JobView& view, const std::string& consumable, const Arns& arns) {
  const Job& job = view.job;
  Json out = {{"jobArn", arns.job(job.id)},
              {"jobName", job.spec.name},
              {"jobStatus", status_name(job)},
              {"jobQueueArn", arns.queue(job.spec.queue)},
              {"jobDefinitionArn", arns.definition(job.spec.definition, job.spec.definition_revision)},
              {"createdAt", job.created.millis()},
              {"consumableResourceProperties", consumables_json(job.spec.consumables)}};
  const auto ask = std::ranges::find(job.spec.consumables, consumable, &ConsumableAsk::name);
  if (ask != job.spec.consumables.end()) out["quantity"] = ask->quantity;
  if (!job.spec.share.empty()) out["shareIdentifier"] = job.spec.share;
  if (const auto started = started_at(job)) out["startedAt"] = started->millis();
  const std::string& reason = view.waiting.empty() ? job.status_reason : view.waiting;
  if (!reason.empty()) out["statusReason"] = reason;
  return out;
}

Result<std::optional<std::vector<ConsumableAsk>>> optional_consumables(const JsonValue& body, const char* field) {
  TESON_TRY(const auto properties, wire::optional_object(body, field));
  if (!properties) return std::optional<std::vector<ConsumableAsk>>();
  TESON_TRY(const auto entries, wire::optional_object_array(*properties, "consumableResourceList", kMaxAsks));
  std::vector<ConsumableAsk> out;
  for (const JsonValue& entry : entries) {
    ConsumableAsk ask;
    TESON_TRY(const std::string name, wire::required_string(entry, "consumableResource"));
    ask.name = std::string(local_name(name));
    if (!is_resource_name(ask.name)) {
      return invalid(
          fmt::format("Value {} at '{}.consumableResource' is no name: {}", in_quotes(name), entry.path(), kNameRule));
    }
    if (!wire::field(entry, "quantity")) return entry.refuse("quantity must be given");
    TESON_TRY(const auto quantity, wire::optional_int(entry, "quantity", {1, kMaxQuantity}));
    ask.quantity = quantity.value_or(1);
    if (std::ranges::find(out, ask.name, &ConsumableAsk::name) != out.end()) {
      return invalid(fmt::format("'{}.consumableResource': {} is asked for twice: give the sum once", entry.path(),
                                 in_quotes(ask.name)));
    }
    out.push_back(std::move(ask));
  }
  return std::optional(std::move(out));
}

Json consumables_json(const std::vector<ConsumableAsk>& asks) {
  Json list = Json::array();
  for (const ConsumableAsk& ask : asks) list.push_back({{"consumableResource", ask.name}, {"quantity", ask.quantity}});
  return {{"consumableResourceList", std::move(list)}};
}

}  // namespace teson::batch
