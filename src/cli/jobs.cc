#include "cli/jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/uuid.h"
#include "cli/short_id.h"
#include "cli/text.h"
#include "domain/ids.h"
#include "domain/user.h"

namespace teson::cli {
namespace {

constexpr size_t kPage = 100;  // ListJobs' and DescribeJobs' own limit

std::string after_last_slash(const std::string& arn) { return arn.substr(arn.rfind('/') + 1); }

std::optional<Instant> instant_field(const Json& object, const char* name) {
  const auto millis = int_field(object, name);
  if (!millis || *millis <= 0) return std::nullopt;
  return Instant::from_millis(*millis);
}

std::vector<AttemptView> attempts_of(const Json& detail, const std::string& status) {
  std::vector<AttemptView> attempts;
  for (const Json& entry : array_field(detail, "attempts")) {
    const Json& container = field(entry, "container");
    AttemptView attempt;
    attempt.number = static_cast<int>(attempts.size()) + 1;
    attempt.started = instant_field(entry, "startedAt");
    attempt.stopped = instant_field(entry, "stoppedAt");
    attempt.live = !attempt.stopped && !is_finished_status(status) && &entry == &array_field(detail, "attempts").back();
    attempt.exit_code = int_field(container, "exitCode");
    attempt.cause = text_field(entry, "statusReason");
    attempt.reason = text_field(container, "reason");
    attempt.log_stream = text_field(container, "logStreamName");
    attempts.push_back(std::move(attempt));
  }
  // A running attempt is not among `attempts` yet: its stream is the job's current one.
  const bool running = status == "STARTING" || status == "RUNNING";
  const std::string stream = text_field(field(detail, "container"), "logStreamName");
  const bool known =
      !attempts.empty() && (attempts.back().live || (!stream.empty() && attempts.back().log_stream == stream));
  if (running && !known) {
    AttemptView live;
    live.number = static_cast<int>(attempts.size()) + 1;
    live.live = true;
    if (status == "RUNNING") live.started = instant_field(detail, "startedAt");
    live.log_stream = stream;
    attempts.push_back(std::move(live));
  }
  return attempts;
}

}  // namespace

bool is_finished_status(const std::string& status) { return status == "SUCCEEDED" || status == "FAILED"; }

bool is_status(const std::string& status) {
  static constexpr const char* kAll[] = {"SUBMITTED", "PENDING",   "RUNNABLE", "STARTING",
                                         "RUNNING",   "SUCCEEDED", "FAILED"};
  return std::any_of(std::begin(kAll), std::end(kAll), [&](const char* name) { return status == name; });
}

JobView job_view(const Json& detail) {
  const Json& container = field(detail, "container");
  JobView job;
  job.id = text_field(detail, "jobId");
  job.name = text_field(detail, "jobName");
  job.queue = after_last_slash(text_field(detail, "jobQueue"));
  job.definition = after_last_slash(text_field(detail, "jobDefinition"));
  job.owner = text_field(field(detail, "tags"), "teson:owner");
  if (job.owner.empty()) job.owner = kFirstUser;
  job.status = text_field(detail, "status");
  job.status_reason = text_field(detail, "statusReason");
  job.image = text_field(container, "image");
  for (const Json& word : array_field(container, "command")) {
    if (word.is_string()) job.command.push_back(word.get<std::string>());
  }
  job.created = instant_field(detail, "createdAt");
  job.started = instant_field(detail, "startedAt");
  job.stopped = instant_field(detail, "stoppedAt");
  job.exit_code = int_field(container, "exitCode");
  job.reason = text_field(container, "reason");
  job.attempts = attempts_of(detail, job.status);
  return job;
}

int exit_code_of(const JobView& job) {
  if (job.status == "SUCCEEDED") return 0;
  if (!job.exit_code || *job.exit_code <= 0 || *job.exit_code > 255) return 1;
  return static_cast<int>(*job.exit_code);
}

std::string why_failed(const JobView& job) {
  // Batch says this of every program that ended by itself: it explains nothing.
  const bool by_itself = job.status_reason == "Essential container in task exited";
  std::string text = job.exit_code ? fmt::format("exit code {}", *job.exit_code) : "";
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : ": ") + part;
  };
  if (!by_itself) add(job.status_reason);
  if (job.reason != job.status_reason) add(job.reason);
  return text.empty() ? job.status_reason : text;
}

std::string job_label(const JobView& job) { return fmt::format("{} ({})", printable(job.name), short_form(job.id)); }

std::optional<Duration> run_time(const JobView& job, Instant at) {
  if (!job.started) return std::nullopt;
  if (job.stopped) return *job.stopped - *job.started;
  if (job.status != "RUNNING" || at < *job.started) return std::nullopt;
  return at - *job.started;
}

Outcome<std::vector<std::string>> queue_names(Client& client) {
  std::vector<std::string> names;
  std::string token;
  do {
    Json request = Json::object();
    if (!token.empty()) request["nextToken"] = token;
    const auto answer = client.batch("DescribeJobQueues", request);
    if (!answer) return std::unexpected(answer.error());
    for (const Json& queue : array_field(*answer, "jobQueues")) names.push_back(text_field(queue, "jobQueueName"));
    token = text_field(*answer, "nextToken");
  } while (!token.empty());
  return names;
}

Outcome<std::vector<Json>> list_jobs(Client& client, const std::string& queue, const std::optional<std::string>& status,
                                     size_t limit) {
  std::vector<Json> jobs;
  std::string token;
  do {
    Json request =
        Json::object({{"jobQueue", queue}, {"maxResults", std::clamp<size_t>(limit - jobs.size(), 1, kPage)}});
    if (status) {
      request["jobStatus"] = *status;
    } else {
      // ListJobs lists RUNNING alone, unless a filter is given: then every status.
      request["filters"] = Json::array({Json::object({{"name", "AFTER_CREATED_AT"}, {"values", Json::array({"0"})}})});
    }
    if (!token.empty()) request["nextToken"] = token;
    const auto answer = client.batch("ListJobs", request);
    if (!answer) return std::unexpected(answer.error());
    for (const Json& job : array_field(*answer, "jobSummaryList")) jobs.push_back(job);
    token = text_field(*answer, "nextToken");
  } while (!token.empty() && jobs.size() < limit);
  if (jobs.size() > limit) jobs.resize(limit);
  return jobs;
}

Outcome<std::vector<Json>> describe_jobs(Client& client, const std::vector<std::string>& ids) {
  std::map<std::string, Json> by_id;
  for (size_t first = 0; first < ids.size(); first += kPage) {
    Json page = Json::array();
    for (size_t i = first; i < std::min(ids.size(), first + kPage); ++i) page.push_back(ids[i]);
    const auto answer = client.batch("DescribeJobs", Json::object({{"jobs", page}}));
    if (!answer) return std::unexpected(answer.error());
    for (const Json& job : array_field(*answer, "jobs")) by_id.emplace(text_field(job, "jobId"), job);
  }
  std::vector<Json> jobs;
  for (const std::string& id : ids) {
    if (const auto found = by_id.find(id); found != by_id.end()) jobs.push_back(found->second);
  }
  return jobs;
}

Outcome<Json> describe_job(Client& client, const std::string& id) {
  auto jobs = describe_jobs(client, {id});
  if (!jobs) return std::unexpected(jobs.error());
  if (jobs->empty()) return usage(fmt::format("there is no job {}; 'teson jobs --all' lists them", printable(id)));
  return std::move(jobs->front());
}

namespace {

Outcome<void> check_given_id(const std::string& id) {
  const auto [array, index] = child_parts(id);
  if (!is_id_prefix(array)) {
    return usage(
        fmt::format("'{}' is not a job id; give it, or its first characters, as 'teson jobs' shows it", printable(id)));
  }
  if (is_index_part(index)) return {};
  return usage(fmt::format("'{}' is not a job id; a child of an array is its id, ':' and an index from 0 to {}: {}:0",
                           printable(id), JobId::kLargestIndex, array));
}

}  // namespace

Outcome<std::vector<std::string>> resolve_job_ids(Client& client, const std::vector<std::string>& given) {
  for (const std::string& id : given) {
    if (const auto good = check_given_id(id); !good) return std::unexpected(good.error());
  }
  std::vector<std::string> known;
  const auto is_whole = [](const std::string& id) { return is_whole_id(child_parts(id).array); };
  if (!std::all_of(given.begin(), given.end(), is_whole)) {
    const auto queues = queue_names(client);
    if (!queues) return std::unexpected(queues.error());
    for (const std::string& queue : *queues) {
      const auto jobs = list_jobs(client, queue, std::nullopt, SIZE_MAX);
      if (!jobs) return std::unexpected(jobs.error());
      for (const Json& job : *jobs) known.push_back(text_field(job, "jobId"));
    }
  }
  std::vector<std::string> ids;
  for (const std::string& id : given) {
    const auto [array, index] = child_parts(id);
    auto match = is_whole(id) ? Outcome<std::string>(Uuid::parse(array)->text()) : match_id(array, known);
    if (!match) return std::unexpected(match.error());
    ids.push_back(*match + std::string(index));
  }
  return ids;
}

Outcome<std::string> resolve_job_id(Client& client, const std::string& given) {
  auto ids = resolve_job_ids(client, {given});
  if (!ids) return std::unexpected(ids.error());
  return std::move(ids->front());
}

}  // namespace teson::cli
