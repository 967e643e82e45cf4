#include "api/batch/array_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/try.h"

namespace teson::batch {
namespace {

constexpr size_t kMaxDependencies = 20;

void add(std::vector<JobId>& ids, const JobId& id) {
  if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
}

}  // namespace

Result<std::optional<int>> parse_array_size(const JsonValue& body) {
  TESON_TRY(const auto properties, wire::optional_object(body, "arrayProperties"));
  if (!properties || !wire::field(*properties, "size")) return std::nullopt;
  TESON_TRY(const auto size, wire::optional_int(*properties, "size", {INT32_MIN, INT32_MAX}));
  if (*size >= kMinArraySize && *size <= kMaxArraySize) return static_cast<int>(*size);
  return invalid(fmt::format("'arrayProperties.size' is {}: an array job has {} to {} children", *size, kMinArraySize,
                             kMaxArraySize));
}

Result<Dependencies> parse_dependencies(const JsonValue& body, const Arns& arns, bool is_array) {
  TESON_TRY(const auto entries, wire::optional_object_array(body, "dependsOn", kMaxDependencies));
  Dependencies out;
  for (const JsonValue& entry : entries) {
    TESON_TRY(const auto type, wire::optional_enum(entry, "type", {"N_TO_N", "SEQUENTIAL"}));
    if (type && !is_array) {
      return invalid(
          fmt::format("'{}.type' is {}, which is for array jobs: give arrayProperties.size, or leave type out",
                      entry.path(), *type));
    }
    if (type == "SEQUENTIAL") {
      if (wire::field(entry, "jobId")) {
        return invalid(
            fmt::format("'{}': SEQUENTIAL is about the array's own children: leave jobId out", entry.path()));
      }
      out.sequential = true;
      continue;
    }
    TESON_TRY(const std::string text, wire::required_string(entry, "jobId"));
    TESON_TRY(const JobId id, arns.job_id(text, "dependsOn"));
    add(type ? out.n_to_n : out.jobs, id);
  }
  return out;
}

Status choose_failed(const Job& ended, ArraySpec& rerun) {
  if (!ended.array) return invalid(fmt::format("tag teson:rerun-of: job {} is not an array job", ended.id.text()));
  const int size = ended.spec.array->size;
  if (rerun.size != 0 && rerun.size != size) {
    return invalid(fmt::format(
        "'arrayProperties.size' is {}: the array that is run again has {} children; leave it out", rerun.size, size));
  }
  rerun.size = size;
  for (int index = 0; index < size; ++index) {
    if (ended.array->children[static_cast<size_t>(index)] == child::kFailed) rerun.only.push_back(index);
  }
  if (!rerun.only.empty()) return {};
  return conflict(
      fmt::format("tag teson:rerun-of: no child of job {} failed: there is nothing to run again", ended.id.text()));
}

Json depends_on_json(const JobSpec& spec) {
  Json out = Json::array();
  for (const JobId& id : spec.depends_on) out.push_back({{"jobId", id.text()}});
  if (!spec.array) return out;
  for (const JobId& id : spec.array->n_to_n) out.push_back({{"jobId", id.text()}, {"type", "N_TO_N"}});
  if (spec.array->sequential) out.push_back({{"type", "SEQUENTIAL"}});
  return out;
}

Json array_properties_json(const Job& job) {
  if (!job.spec.array) return nullptr;
  Json out = {{"size", job.spec.array->size}};
  if (job.id.is_child()) {
    out["index"] = job.id.index;
  } else if (job.array) {
    const StatusSummary sum = summary_of(*job.array);
    out["statusSummary"] = {{"SUBMITTED", 0},           {"PENDING", sum.pending}, {"RUNNABLE", sum.runnable},
                            {"STARTING", sum.starting}, {"RUNNING", sum.running}, {"SUCCEEDED", sum.succeeded},
                            {"FAILED", sum.failed}};
  }
  return out;
}

}  // namespace teson::batch
