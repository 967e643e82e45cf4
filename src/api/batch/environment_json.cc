#include "api/batch/environment_json.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "api/batch/instance_types.h"
#include "api/batch/kept.h"
#include "base/try.h"

namespace teson::batch {
namespace {

// An unmanaged environment says nothing of its size: the host bounds it.
constexpr int64_t kUnboundedVcpus = 1'000'000;

struct Scale {
  std::optional<int64_t> min, max, desired;
};

Result<Scale> parse_scale(const JsonValue& resources) {
  Scale out;
  TESON_TRY(out.min, wire::optional_int(resources, "minvCpus", {0, INT32_MAX}));
  TESON_TRY(out.max, wire::optional_int(resources, "maxvCpus", {0, INT32_MAX}));
  TESON_TRY(out.desired, wire::optional_int(resources, "desiredvCpus", {0, INT32_MAX}));
  return out;
}

Status check_scale(int64_t min, int64_t max, int64_t desired) {
  if (min > max) {
    return invalid(fmt::format("computeResources: minvCpus ({}) must not be greater than maxvCpus ({})", min, max));
  }
  if (desired < min || desired > max) {
    return invalid(fmt::format("computeResources: desiredvCpus ({}) must be between minvCpus ({}) and maxvCpus ({})",
                               desired, min, max));
  }
  return {};
}

bool is_fargate_name(std::string_view type) { return type == "FARGATE" || type == "FARGATE_SPOT"; }
bool is_spot_name(std::string_view type) { return type == "SPOT" || type == "FARGATE_SPOT"; }

Result<bool> parse_state(const JsonValue& body, bool otherwise) {
  TESON_TRY(const auto state, wire::optional_enum(body, "state", {"ENABLED", "DISABLED"}));
  return state ? *state == "ENABLED" : otherwise;
}

// Members for which Fargate has no use are refused, as AWS does.
Status refuse_for_fargate(const JsonValue& resources) {
  for (const char* member : {"minvCpus", "desiredvCpus", "instanceTypes", "allocationStrategy", "bidPercentage"}) {
    if (wire::field(resources, member)) {
      return invalid(fmt::format("'computeResources.{}' must not be given for FARGATE and FARGATE_SPOT", member));
    }
  }
  return {};
}

Status check_kept(const JsonValue& resources) {
  TESON_TRY_STATUS(check_kept_resources(resources));
  TESON_TRY_STATUS(wire::optional_int(resources, "bidPercentage", {0, 100}));
  return {};
}

Result<std::vector<std::string>> parse_type_names(const JsonValue& resources) {
  return wire::optional_string_array(resources, "instanceTypes", SIZE_MAX, {1});
}

Status parse_managed(const JsonValue& body, const InstanceCatalogue& catalogue, const BatchSettings& settings,
                     ComputeEnvironment& out) {
  TESON_TRY(const JsonValue resources, wire::required_object(body, "computeResources"));
  TESON_TRY(const std::string type, wire::required_enum(resources, "type", {"EC2", "SPOT", "FARGATE", "FARGATE_SPOT"}));
  TESON_TRY_STATUS(check_kept(resources));
  TESON_TRY(const Scale scale, parse_scale(resources));
  if (!scale.max) return invalid("'computeResources.maxvCpus' is missing: it must be the most vCPUs to use at a time");
  out.market = is_spot_name(type) ? Market::kSpot : Market::kOnDemand;
  out.max_vcpus = *scale.max;
  if (is_fargate_name(type)) return refuse_for_fargate(resources);
  out.min_vcpus = scale.min.value_or(0);
  out.desired_vcpus = scale.desired.value_or(out.min_vcpus);
  TESON_TRY_STATUS(check_scale(out.min_vcpus, out.max_vcpus, out.desired_vcpus));
  TESON_TRY(std::vector<std::string> names, parse_type_names(resources));
  if (names.empty()) names = {"optimal"};
  TESON_TRY(out.instance_types, resolve_instance_types(names, catalogue, settings));
  return {};
}

Json stored(const ComputeEnvironment& environment) {
  auto document = wire::parse_json_object(environment.document);
  return document ? std::move(*document) : Json::object();
}

// What an update may say about computeResources, ready to be laid over an environment.
struct ResourceUpdate {
  Scale scale;
  std::optional<std::vector<InstanceType>> instance_types;
  std::optional<std::string> type;
  Json members = Json::object();
};

Result<ResourceUpdate> parse_resource_update(const JsonValue& resources, const InstanceCatalogue& catalogue,
                                             const BatchSettings& settings) {
  ResourceUpdate out;
  TESON_TRY_STATUS(check_kept(resources));
  TESON_TRY(out.scale, parse_scale(resources));
  TESON_TRY(out.type, wire::optional_enum(resources, "type", {"EC2", "SPOT", "FARGATE", "FARGATE_SPOT"}));
  TESON_TRY(const std::vector<std::string> names, parse_type_names(resources));
  if (!names.empty()) {
    TESON_TRY(auto types, resolve_instance_types(names, catalogue, settings));
    out.instance_types = std::move(types);
  }
  for (const auto& [name, member] : resources.json().items()) {
    if (!member.is_null()) out.members[name] = member;
  }
  return out;
}

Status apply_resources(const ResourceUpdate& update, ComputeEnvironment& environment, Json& document) {
  const bool fargate = is_fargate(environment);
  if (update.type && is_fargate_name(*update.type) != fargate) {
    return invalid(
        fmt::format("'computeResources.type': an environment cannot change between EC2 and Fargate (it is {})",
                    fargate ? "Fargate" : "EC2"));
  }
  if (fargate && (update.scale.min || update.scale.desired || update.instance_types)) {
    return invalid(
        "'computeResources': minvCpus, desiredvCpus and instanceTypes must not be given for FARGATE and FARGATE_SPOT");
  }
  if (update.type) environment.market = is_spot_name(*update.type) ? Market::kSpot : Market::kOnDemand;
  if (update.instance_types) environment.instance_types = *update.instance_types;
  const int64_t min = update.scale.min.value_or(environment.min_vcpus);
  const int64_t max = update.scale.max.value_or(environment.max_vcpus);
  if (min > max) return check_scale(min, max, min);
  const int64_t desired = update.scale.desired.value_or(std::clamp(environment.desired_vcpus, min, max));
  TESON_TRY_STATUS(check_scale(min, max, desired));
  environment.min_vcpus = min;
  environment.max_vcpus = max;
  environment.desired_vcpus = desired;
  document["computeResources"].update(update.members);
  return {};
}

}  // namespace

bool is_fargate(const ComputeEnvironment& environment) { return environment.instance_types.empty(); }

Result<ComputeEnvironment> parse_create_environment(const Json& body, const InstanceCatalogue& catalogue,
                                                    const BatchSettings& settings) {
  const JsonValue value(body, "");
  ComputeEnvironment out;
  TESON_TRY(out.name, required_name(value, "computeEnvironmentName"));
  TESON_TRY(const std::string type, wire::required_enum(value, "type", {"MANAGED", "UNMANAGED"}));
  TESON_TRY(out.enabled, parse_state(value, true));
  TESON_TRY(out.tags, optional_tags(value, "tags"));
  TESON_TRY_STATUS(check_kept_environment(value));
  TESON_TRY_STATUS(refuse_member(value, "eksConfiguration", "EKS clusters are"));
  TESON_TRY(const auto unmanaged_vcpus, wire::optional_int(value, "unmanagedvCpus", {0, INT32_MAX}));
  if (type == "MANAGED") {
    if (unmanaged_vcpus) return invalid("'unmanagedvCpus' must not be given where type is MANAGED");
    TESON_TRY_STATUS(parse_managed(value, catalogue, settings, out));
  } else {
    if (wire::field(value, "computeResources")) {
      return invalid("'computeResources' must not be given where type is UNMANAGED: the machine is your own");
    }
    out.instance_types = {host_type(catalogue, settings)};
    out.max_vcpus = unmanaged_vcpus.value_or(kUnboundedVcpus);
  }
  Json document = body;
  for (const char* member : {"computeEnvironmentName", "tags", "state", "eksConfiguration"}) document.erase(member);
  out.document = wire::json_text(document);
  return out;
}

Result<EnvironmentUpdate> parse_update_environment(const Json& body, const Arns& arns,
                                                   const InstanceCatalogue& catalogue, const BatchSettings& settings) {
  const JsonValue value(body, "");
  EnvironmentUpdate out;
  TESON_TRY(const std::string name, wire::required_string(value, "computeEnvironment"));
  TESON_TRY(out.name, arns.environment_name(name, "computeEnvironment"));
  TESON_TRY(const auto state, wire::optional_enum(value, "state", {"ENABLED", "DISABLED"}));
  TESON_TRY_STATUS(check_kept_environment(value));
  TESON_TRY(const auto role, wire::optional_string(value, "serviceRole"));
  TESON_TRY(const auto unmanaged_vcpus, wire::optional_int(value, "unmanagedvCpus", {0, INT32_MAX}));
  TESON_TRY(const auto policy, wire::optional_object(value, "updatePolicy"));
  TESON_TRY(const auto resources, wire::optional_object(value, "computeResources"));
  std::optional<ResourceUpdate> update;
  if (resources) {
    TESON_TRY(ResourceUpdate parsed, parse_resource_update(*resources, catalogue, settings));
    update = std::move(parsed);
  }
  const Json policy_json = policy ? policy->json() : Json();
  out.change = [=](ComputeEnvironment& environment) -> Status {
    Json document = stored(environment);
    const bool unmanaged = document.value("type", "MANAGED") == "UNMANAGED";
    if (unmanaged && update) return invalid("'computeResources' must not be given: the environment is UNMANAGED");
    if (!unmanaged && unmanaged_vcpus) return invalid("'unmanagedvCpus' must not be given: the environment is MANAGED");
    if (update) TESON_TRY_STATUS(apply_resources(*update, environment, document));
    if (state) environment.enabled = *state == "ENABLED";
    if (role) document["serviceRole"] = *role;
    if (!policy_json.is_null()) document["updatePolicy"] = policy_json;
    if (unmanaged_vcpus) {
      environment.max_vcpus = *unmanaged_vcpus;
      document["unmanagedvCpus"] = *unmanaged_vcpus;
    }
    environment.document = wire::json_text(document);
    return {};
  };
  return out;
}

Json environment_detail(const ComputeEnvironment& environment, int64_t live_vcpus, const Arns& arns) {
  Json out = stored(environment);
  const bool unmanaged = out.value("type", "MANAGED") == "UNMANAGED";
  out["computeEnvironmentName"] = environment.name;
  out["computeEnvironmentArn"] = arns.environment(environment.name);
  out["ecsClusterArn"] = arns.cluster(environment.name);
  out["type"] = unmanaged ? "UNMANAGED" : "MANAGED";
  out["state"] = environment.enabled ? "ENABLED" : "DISABLED";
  out["status"] = "VALID";
  out["statusReason"] = "ComputeEnvironment Healthy";
  out["containerOrchestrationType"] = "ECS";
  out["tags"] = environment.tags;
  if (!out.contains("serviceRole")) out["serviceRole"] = "";
  if (unmanaged) return out;

  Json& resources = out["computeResources"];
  if (!resources.is_object()) resources = Json::object();
  const bool fargate = is_fargate(environment);
  const bool spot = environment.market == Market::kSpot;
  resources["type"] = fargate ? (spot ? "FARGATE_SPOT" : "FARGATE") : (spot ? "SPOT" : "EC2");
  resources["maxvCpus"] = environment.max_vcpus;
  for (const char* list : {"subnets", "securityGroupIds"}) {
    if (!resources.contains(list)) resources[list] = Json::array();
  }
  if (fargate) return out;
  resources["minvCpus"] = environment.min_vcpus;
  resources["desiredvCpus"] = std::max(environment.desired_vcpus, live_vcpus);
  if (!resources.contains("instanceTypes")) {
    Json names = Json::array();
    for (const InstanceType& type : environment.instance_types) names.push_back(type.name);
    resources["instanceTypes"] = std::move(names);
  }
  return out;
}

}  // namespace teson::batch
