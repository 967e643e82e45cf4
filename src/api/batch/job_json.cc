#include "api/batch/job_json.h"

#include "api/batch/array_json.h"
#include "api/batch/consumable_json.h"
#include "api/batch/container.h"
#include "api/batch/extension_tags.h"
#include "api/batch/retry_json.h"

namespace teson::batch {
namespace {

// "<definition>/default/<task>" -> "<task>".
std::string_view task_id(std::string_view log_stream) {
  const size_t slash = log_stream.rfind('/');
  return slash == std::string_view::npos ? log_stream : log_stream.substr(slash + 1);
}

// The attempt that the job's `container` tells about: the live one, else the last.
const Attempt* latest_attempt(const Job& job) {
  if (const Attempt* live = live_attempt(job)) return live;
  return job.past.empty() ? nullptr : &job.past.back();
}

void put_outcome(Json& container, const AttemptEnd& end) {
  if (end.exit_code) container["exitCode"] = *end.exit_code;
  if (!end.reason.empty()) container["reason"] = end.reason;
}

void put_place(Json& container, const Attempt& attempt, const Arns& arns) {
  container["containerInstanceArn"] = arns.container_instance(attempt.environment, attempt.instance);
  if (!attempt.log_stream.empty()) container["taskArn"] = arns.task(attempt.environment, task_id(attempt.log_stream));
  // AWS names the stream once the attempt runs.
  if (attempt.started && !attempt.log_stream.empty()) container["logStreamName"] = attempt.log_stream;
}

Json attempt_json(const Attempt& attempt, const Arns& arns) {
  Json container = {{"networkInterfaces", Json::array()}};
  put_place(container, attempt, arns);
  Json out = Json::object();
  if (attempt.started) out["startedAt"] = attempt.started->millis();
  if (attempt.end) {
    put_outcome(container, *attempt.end);
    out["stoppedAt"] = attempt.end->ended.millis();
    out["statusReason"] = attempt.end->status_reason;
  }
  out["container"] = std::move(container);
  return out;
}

Json environment_json(const EnvironmentVariables& variables) {
  Json out = Json::array();
  for (const auto& [name, value] : variables) out.push_back({{"name", name}, {"value", value}});
  return out;
}

Json container_json(const Job& job, Json kept, const Arns& arns) {
  Json out = kept.is_object() ? std::move(kept) : Json::object();
  // A definition may hold members that mean nothing there, and must not pass for what happened.
  for (const char* member : {"exitCode", "reason", "containerInstanceArn", "taskArn", "logStreamName"})
    out.erase(member);
  for (const char* list : {"volumes", "mountPoints", "ulimits", "secrets"}) {
    if (!out.contains(list)) out[list] = Json::array();
  }
  const JobSpec& spec = job.spec;
  out["image"] = spec.image;
  out["command"] = spec.command;
  out["environment"] = environment_json(spec.environment);
  out["resourceRequirements"] = requirements_json(spec.resources);
  if (spec.resources.milli_vcpus % 1000 == 0) out["vcpus"] = spec.resources.milli_vcpus / 1000;
  out["memory"] = spec.resources.memory_mib;
  out["networkInterfaces"] = Json::array();
  if (const Attempt* attempt = latest_attempt(job)) {
    put_place(out, *attempt, arns);
    if (attempt->end) put_outcome(out, *attempt->end);
  }
  return out;
}

void put_status(Json& out, const JobView& view) {
  const Job& job = view.job;
  out["jobId"] = job.id.text();
  out["jobName"] = job.spec.name;
  out["status"] = status_name(job);
  const std::string& reason = view.waiting.empty() ? job.status_reason : view.waiting;
  if (!reason.empty()) out["statusReason"] = reason;
  out["createdAt"] = job.created.millis();
  if (const auto started = started_at(job)) out["startedAt"] = started->millis();
  if (const auto stopped = stopped_at(job)) out["stoppedAt"] = stopped->millis();
}

}  // namespace

Json job_detail(const JobView& view, const Arns& arns) {
  const Job& job = view.job;
  const JobSpec& spec = job.spec;
  auto parsed = wire::parse_json_object(spec.document);
  Json document = parsed ? std::move(*parsed) : Json::object();

  Json out = Json::object();
  put_status(out, view);
  out["jobArn"] = arns.job(job.id);
  out["jobQueue"] = arns.queue(spec.queue);
  out["jobDefinition"] = arns.definition(spec.definition, spec.definition_revision);
  out["schedulingPriority"] = spec.priority;
  if (!spec.share.empty()) out["shareIdentifier"] = spec.share;
  if (!spec.consumables.empty()) out["consumableResourceProperties"] = consumables_json(spec.consumables);
  out["retryStrategy"] = to_json(spec.retry);
  if (spec.attempt_timeout) out["timeout"] = timeout_json(*spec.attempt_timeout);
  out["dependsOn"] = depends_on_json(spec);
  if (Json array = array_properties_json(job); !array.is_null()) out["arrayProperties"] = std::move(array);
  out["attempts"] = Json::array();
  for (const Attempt& attempt : job.past) out["attempts"].push_back(attempt_json(attempt, arns));
  out["tags"] = shown_tags(spec);
  out["parameters"] = document.value("parameters", Json::object());
  out["propagateTags"] = document.value("propagateTags", false);
  out["platformCapabilities"] = document.value("platformCapabilities", Json::array());
  out["isCancelled"] = job.stop && job.stop->kind == StopKind::kCancel;
  out["isTerminated"] = job.stop && job.stop->kind == StopKind::kTerminate;
  out["container"] = container_json(job, document.value("container", Json::object()), arns);
  return out;
}

Json job_summary(const JobView& view, const Arns& arns) {
  const Job& job = view.job;
  Json out = Json::object();
  put_status(out, view);
  out["jobArn"] = arns.job(job.id);
  out["jobDefinition"] = arns.definition(job.spec.definition, job.spec.definition_revision);
  if (Json array = array_properties_json(job); !array.is_null()) {
    array.erase("statusSummary");  // ArrayPropertiesSummary has none
    out["arrayProperties"] = std::move(array);
  }
  if (const Attempt* attempt = latest_attempt(job); attempt && attempt->end) {
    Json container = Json::object();
    put_outcome(container, *attempt->end);
    out["container"] = std::move(container);
  }
  return out;
}

}  // namespace teson::batch
