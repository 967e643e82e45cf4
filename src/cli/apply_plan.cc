#include "cli/apply_plan.h"

#include <algorithm>

#include "cli/jobs.h"
#include "wire/digest.h"

namespace teson::cli {
namespace {

constexpr const char* kMarker = "teson-apply";
constexpr size_t kMarkerLength = 32;
constexpr size_t kPage = 100;  // ListJobs' own limit

struct Words {
  const char* describe;
  const char* create;
  const char* update;
  const char* by;    // what Describe* is asked by
  const char* list;  // and answers with
  const char* arn;
};

Words words_of(ManifestKind kind) {
  switch (kind) {
    case ManifestKind::kPolicy:
      return {"DescribeSchedulingPolicies", "CreateSchedulingPolicy",
              "UpdateSchedulingPolicy",     "arns",
              "schedulingPolicies",         "arn"};
    case ManifestKind::kEnvironment:
      return {"DescribeComputeEnvironments", "CreateComputeEnvironment", "UpdateComputeEnvironment",
              "computeEnvironments",         "computeEnvironments",      "computeEnvironmentArn"};
    case ManifestKind::kQueue:
      return {"DescribeJobQueues", "CreateJobQueue", "UpdateJobQueue", "jobQueues", "jobQueues", "jobQueueArn"};
    case ManifestKind::kDefinition:
      return {"DescribeJobDefinitions", "RegisterJobDefinition", "",
              "jobDefinitionName",      "jobDefinitions",        "jobDefinitionArn"};
    case ManifestKind::kJob:
      break;
  }
  return {"", "SubmitJob", "", "", "", "jobId"};
}

// Null where there is none; of a definition its newest active revision.
Outcome<Json> current_of(Client& client, const ManifestDocument& document) {
  const Words words = words_of(document.kind);
  Json request = Json::object();
  if (document.kind == ManifestKind::kDefinition) {
    request = Json::object({{words.by, document.name}, {"status", "ACTIVE"}});
  } else {
    request[words.by] = Json::array({document.name});
  }
  Json newest;
  for (;;) {
    const auto answer = client.batch(words.describe, request);
    if (!answer) return std::unexpected(answer.error());
    for (const Json& found : array_field(*answer, words.list)) {
      if (newest.is_null() || int_field(found, "revision") > int_field(newest, "revision")) newest = found;
    }
    const std::string token = text_field(*answer, "nextToken");
    if (token.empty()) return newest;
    request["nextToken"] = token;
  }
}

std::string marker_of(const Json& request) {
  const nlohmann::json sorted = nlohmann::json::parse(json_line(request));
  return wire::sha256_hex(sorted.dump()).substr(0, kMarkerLength);
}

// The id of a job that `apply` submitted for this document; empty if there is none.
Outcome<std::string> submitted_before(Client& client, const ManifestDocument& document, const std::string& marker) {
  const Json names = Json::array({document.name});
  Json request = Json::object({{"jobQueue", text_field(document.request, "jobQueue")},
                               {"filters", Json::array({Json::object({{"name", "JOB_NAME"}, {"values", names}})})},
                               {"maxResults", kPage}});
  for (;;) {
    const auto page = client.batch("ListJobs", request);
    if (!page) return std::unexpected(page.error());
    std::vector<std::string> ids;
    for (const Json& job : array_field(*page, "jobSummaryList")) ids.push_back(text_field(job, "jobId"));
    const auto details = describe_jobs(client, ids);
    if (!details) return std::unexpected(details.error());
    for (const Json& detail : *details) {
      if (text_field(field(detail, "tags"), kMarker) == marker) return text_field(detail, "jobId");
    }
    const std::string token = text_field(*page, "nextToken");
    if (token.empty()) return std::string();
    request["nextToken"] = token;
  }
}

bool will_make_queue(const std::vector<ApplyStep>& earlier, const std::string& queue) {
  return std::ranges::any_of(earlier, [&](const ApplyStep& step) {
    return step.document.kind == ManifestKind::kQueue && step.action == ApplyStep::Action::kCreate &&
           (queue == step.document.name || queue.ends_with("/" + step.document.name));
  });
}

Outcome<ApplyStep> plan_job(Client& client, ManifestDocument document, const std::vector<ApplyStep>& earlier) {
  ApplyStep step;
  const std::string marker = marker_of(document.request);
  if (!will_make_queue(earlier, text_field(document.request, "jobQueue"))) {
    auto id = submitted_before(client, document, marker);
    if (!id) return std::unexpected(id.error());
    step.id = *std::move(id);
  }
  if (step.id.empty()) {
    step.action = ApplyStep::Action::kCreate;
    step.changes = differences(document, Json());
    step.request = document.request;
    step.request["tags"][kMarker] = marker;
  }
  step.document = std::move(document);
  return step;
}

Outcome<ApplyStep> plan_other(Client& client, ManifestDocument document) {
  const auto current = current_of(client, document);
  if (!current) return std::unexpected(current.error());
  ApplyStep step;
  step.changes = differences(document, *current);
  step.id = text_field(*current, words_of(document.kind).arn);
  if (current->is_null()) {
    step.action = ApplyStep::Action::kCreate;
    step.request = document.request;
  } else if (!step.changes.empty() && document.kind == ManifestKind::kDefinition) {
    step.action = ApplyStep::Action::kChange;
    step.request = document.request;
  } else if (!step.changes.empty()) {
    step.action = ApplyStep::Action::kChange;
    auto update = update_request(document, step.changes, step.id);
    if (!update) return usage(update.error().message);
    step.request = *std::move(update);
    step.tags = changed_tags(document, step.changes);
  }
  step.document = std::move(document);
  return step;
}

}  // namespace

Outcome<std::vector<ApplyStep>> plan_apply(Client& client, std::vector<ManifestDocument> documents) {
  std::vector<ApplyStep> steps;
  for (ManifestDocument& document : documents) {
    const std::string where = at(document.file, document.place, document.label() + ": ");
    auto step = document.kind == ManifestKind::kJob ? plan_job(client, std::move(document), steps)
                                                    : plan_other(client, std::move(document));
    if (!step) {
      Failure failure = std::move(step).error();
      if (failure.kind == FailureKind::kService) failure.message = where + failure.message;
      return std::unexpected(std::move(failure));
    }
    steps.push_back(*std::move(step));
  }
  return steps;
}

Outcome<void> carry_out(Client& client, ApplyStep& step) {
  const Words words = words_of(step.document.kind);
  const bool makes = step.action == ApplyStep::Action::kCreate || step.document.kind == ManifestKind::kDefinition;
  if (step.action != ApplyStep::Action::kUnchanged && !step.request.empty()) {
    const auto answer = client.batch(makes ? words.create : words.update, step.request);
    if (!answer) return std::unexpected(answer.error());
    if (makes) step.id = text_field(*answer, words.arn);
  }
  if (!step.tags.empty()) {
    if (const auto tagged = client.tag(step.id, step.tags); !tagged) return std::unexpected(tagged.error());
  }
  step.done = true;
  return {};
}

}  // namespace teson::cli
