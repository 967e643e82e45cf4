#include "cli/rerun_request.h"

#include <fmt/format.h>

#include "cli/array_view.h"

namespace teson::cli {
namespace {

void copy_unless_empty(const Json& from, const char* name, Json& to, const char* new_name) {
  const Json& value = field(from, name);
  if (!value.is_null() && !(value.is_structured() && value.empty())) to[new_name] = value;
}

bool is_sequential(const Json& detail) {
  for (const Json& dependency : array_field(detail, "dependsOn")) {
    if (text_field(dependency, "type") == "SEQUENTIAL") return true;
  }
  return false;
}

}  // namespace

Outcome<Json> rerun_request(const Json& detail) {
  const JobView job = job_view(detail);
  const auto array = array_view(detail);
  if (!array) {
    return usage(fmt::format(
        "{} is not an array, and rerun is for the failed children of one; 'teson run' runs it again", job_label(job)));
  }
  const Json& container = field(detail, "container");
  Json overrides = Json::object();
  for (const char* name : {"command", "environment", "resourceRequirements"}) {
    copy_unless_empty(container, name, overrides, name);
  }
  Json request = Json::object({
      {"jobName", job.name},
      {"jobQueue", text_field(detail, "jobQueue")},
      {"jobDefinition", text_field(detail, "jobDefinition")},
      {"arrayProperties", Json::object({{"size", array->size}})},
      {"containerOverrides", overrides},
  });
  for (const char* name : {"parameters", "retryStrategy", "timeout"}) copy_unless_empty(detail, name, request, name);
  if (field(detail, "propagateTags") == Json(true)) request["propagateTags"] = true;
  if (int_field(detail, "schedulingPriority").value_or(0) > 0) {
    request["schedulingPriorityOverride"] = field(detail, "schedulingPriority");
  }
  if (is_sequential(detail)) request["dependsOn"] = Json::array({Json::object({{"type", "SEQUENTIAL"}})});
  request["tags"] = field(detail, "tags").is_object() ? field(detail, "tags") : Json::object();
  request["tags"].erase("teson:owner");  // the server's own: whose it is follows from who submits it
  request["tags"]["teson:rerun-of"] = job.id;
  return request;
}

}  // namespace teson::cli
