#include "api/batch/definition.h"

#include <fmt/format.h>

#include <mutex>

#include "api/batch/consumable_json.h"
#include "api/batch/kept.h"
#include "api/batch/retry_json.h"
#include "base/try.h"

namespace teson::batch {
namespace {

constexpr int64_t kMaxPriority = 9999;

constexpr const char* kRefused[] = {"nodeProperties", "eksProperties", "ecsProperties", "consumableResourceProperties"};

Status refuse_unsupported(const JsonValue& body) {
  TESON_TRY_STATUS(refuse_member(body, "nodeProperties", "multi-node jobs are"));
  TESON_TRY_STATUS(refuse_member(body, "eksProperties", "jobs on EKS are"));
  TESON_TRY_STATUS(refuse_member(body, "ecsProperties", "jobs of several containers are"));
  return {};
}

Result<DefinitionBody> parse_body(const JsonValue& value) {
  DefinitionBody out;
  TESON_TRY(const std::string type, wire::required_enum(value, "type", {"container", "multinode"}));
  if (type != "container")
    return invalid("'type' is multinode: multi-node jobs are not supported by this version of teson");
  TESON_TRY_STATUS(refuse_unsupported(value));
  TESON_TRY(const JsonValue container, wire::required_object(value, "containerProperties"));
  TESON_TRY(out.container, parse_container_properties(container));
  TESON_TRY(const wire::StringMap parameters, wire::optional_string_map(value, "parameters"));
  out.parameters = Parameters(parameters.begin(), parameters.end());
  TESON_TRY(out.retry, optional_retry_strategy(value));
  TESON_TRY(out.timeout, optional_timeout(value));
  TESON_TRY(out.propagate_tags, wire::optional_bool(value, "propagateTags"));
  TESON_TRY(const auto priority, wire::optional_int(value, "schedulingPriority", {0, kMaxPriority}));
  out.priority = static_cast<int>(priority.value_or(0));
  TESON_TRY(auto consumables, optional_consumables(value, "consumableResourceProperties"));
  if (consumables) out.consumables = std::move(*consumables);
  TESON_TRY(const auto platforms, wire::optional_array(value, "platformCapabilities"));
  for (const JsonValue& platform : platforms) {
    TESON_TRY(std::string name, platform.as_string());
    if (name != "EC2" && name != "FARGATE") return platform.refuse("Member must be EC2 or FARGATE");
    out.platform_capabilities.push_back(std::move(name));
  }
  return out;
}

void set_default(Json& object, const char* name, Json value) {
  if (!object.contains(name)) object[name] = std::move(value);
}

}  // namespace

Result<JobDefinition> parse_register(const Json& body) {
  const JsonValue value(body, "");
  JobDefinition out;
  TESON_TRY(out.name, required_name(value, "jobDefinitionName"));
  TESON_TRY(out.tags, optional_tags(value, "tags"));
  TESON_TRY_STATUS(parse_extension_tags(out.tags));
  TESON_TRY(const DefinitionBody parsed, parse_body(value));
  TESON_TRY(const JsonValue container, wire::required_object(value, "containerProperties"));
  TESON_TRY_STATUS(check_kept_container(container));
  Json document = body;
  for (const char* member : {"jobDefinitionName", "tags"}) document.erase(member);
  // Given as nothing, of whatever type.
  for (const char* member : kRefused) {
    if (document.contains(member) && document[member].empty()) document.erase(member);
  }
  if (parsed.retry) document["retryStrategy"] = to_json(*parsed.retry);
  out.document = wire::json_text(document);
  return out;
}

Json definition_json(const JobDefinition& definition, const Arns& arns) {
  auto document = wire::parse_json_object(definition.document);
  Json out = document ? std::move(*document) : Json::object();
  for (auto at = out.begin(); at != out.end();) at = at->is_null() ? out.erase(at) : std::next(at);
  out["jobDefinitionName"] = definition.name;
  out["jobDefinitionArn"] = arns.definition(definition.name, definition.revision);
  out["revision"] = definition.revision;
  out["status"] = definition.active ? "ACTIVE" : "INACTIVE";
  out["containerOrchestrationType"] = "ECS";
  out["tags"] = definition.tags;
  set_default(out, "type", "container");
  set_default(out, "parameters", Json::object());
  set_default(out, "containerProperties", Json::object());
  Json& container = out["containerProperties"];
  for (const char* list :
       {"command", "environment", "mountPoints", "resourceRequirements", "secrets", "ulimits", "volumes"}) {
    set_default(container, list, Json::array());
  }
  return out;
}

std::string job_document(const DefinitionBody& body, const Parameters& parameters, std::optional<bool> propagate_tags) {
  Json out = Json::object();
  if (!body.container.rest.empty()) out["container"] = body.container.rest;
  if (!parameters.empty()) out["parameters"] = parameters;
  if (propagate_tags) out["propagateTags"] = *propagate_tags;
  if (!body.platform_capabilities.empty()) out["platformCapabilities"] = body.platform_capabilities;
  return out.empty() ? std::string() : wire::json_text(out);
}

Result<ParsedDefinition> parse_definition(const JobDefinition& definition) {
  const auto broken = [&](const Error& error) {
    return fail(ErrorKind::kIo, fmt::format("Job definition {}:{} as stored cannot be read: {}", definition.name,
                                            definition.revision, error.message));
  };
  const auto document = wire::parse_json_object(definition.document);
  if (!document) return broken(document.error());
  auto body = parse_body(JsonValue(*document, ""));
  if (!body) return broken(body.error());
  auto extensions = parse_extension_tags(definition.tags);
  if (!extensions) return broken(extensions.error());
  ParsedDefinition out{definition.name, definition.revision, std::move(*body), std::move(*extensions), {}};
  out.job_document = job_document(out.body, out.body.parameters, out.body.propagate_tags);
  return out;
}

Result<std::shared_ptr<const ParsedDefinition>> DefinitionCache::get(
    const std::shared_ptr<const JobDefinition>& definition) {
  constexpr size_t kMaxEntries = 1000;
  {
    const std::shared_lock lock(mutex_);
    if (const auto at = entries_.find(definition.get()); at != entries_.end()) return at->second.parsed;
  }
  TESON_TRY(ParsedDefinition parsed, parse_definition(*definition));
  auto shared = std::make_shared<const ParsedDefinition>(std::move(parsed));
  const std::unique_lock lock(mutex_);
  if (entries_.size() >= kMaxEntries) entries_.clear();
  entries_[definition.get()] = {definition, shared};
  return shared;
}

}  // namespace teson::batch
