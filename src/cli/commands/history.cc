#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "cli/commands/commands.h"
#include "cli/jobs.h"
#include "cli/output.h"
#include "cli/short_id.h"
#include "cli/units.h"

namespace teson::cli {
namespace {

constexpr size_t kPage = 100;  // ListJobs' own limit

struct Options {
  std::string queue;
  std::string status;
  std::string name;
  std::string since;
  size_t limit = 50;
};

struct Wanted {
  std::vector<std::string> statuses;
  std::string name;
  std::optional<Instant> since;
  size_t limit = 0;

  bool has(const Json& job) const {
    const std::string status = text_field(job, "status");
    return std::ranges::find(statuses, status) != statuses.end() && is_recent(job);
  }
  bool is_recent(const Json& job) const { return !since || int_field(job, "createdAt").value_or(0) >= since->millis(); }
};

// Newest first, so the first one that is too old ends the walk.
Outcome<void> walk(Client& client, const std::string& queue, Json request, const Wanted& wanted,
                   std::vector<Json>& found) {
  request["jobQueue"] = queue;
  request["maxResults"] = std::min(kPage, wanted.limit);
  size_t taken = 0;
  for (;;) {
    const auto answer = client.batch("ListJobs", request);
    if (!answer) return std::unexpected(answer.error());
    for (Json job : array_field(*answer, "jobSummaryList")) {
      if (!wanted.is_recent(job)) return {};
      if (!wanted.has(job)) continue;
      job["jobQueue"] = queue;
      found.push_back(std::move(job));
      if (++taken == wanted.limit) return {};
    }
    const std::string token = text_field(*answer, "nextToken");
    if (token.empty()) return {};
    request["nextToken"] = token;
  }
}

// ListJobs knows one filter at a time, and a filter drops the status.
Outcome<std::vector<Json>> find_finished(Client& client, const std::vector<std::string>& queues, const Wanted& wanted) {
  std::vector<Json> requests;
  if (wanted.name.empty()) {
    for (const std::string& status : wanted.statuses) requests.push_back(Json::object({{"jobStatus", status}}));
  } else {
    requests.push_back(Json::object(
        {{"filters", Json::array({Json::object({{"name", "JOB_NAME"}, {"values", Json::array({wanted.name})}})})}}));
  }
  std::vector<Json> found;
  for (const std::string& queue : queues) {
    for (const Json& request : requests) {
      if (const auto walked = walk(client, queue, request, wanted, found); !walked) {
        return std::unexpected(walked.error());
      }
    }
  }
  std::ranges::stable_sort(found, [](const Json& a, const Json& b) {
    return int_field(a, "createdAt").value_or(0) > int_field(b, "createdAt").value_or(0);
  });
  return found;
}

Table history_table(const std::vector<Json>& jobs) {
  Table table({{"ID"},
               {"NAME"},
               {"QUEUE"},
               {"STATUS"},
               {"EXIT", Align::kRight},
               {"CREATED"},
               {"ENDED"},
               {"RAN", Align::kRight},
               {"REASON"}});
  std::vector<std::string> ids;
  for (const Json& job : jobs) ids.push_back(text_field(job, "jobId"));
  const std::vector<std::string> shown = short_ids(ids);
  for (size_t i = 0; i < jobs.size(); ++i) {
    const JobView job = job_view(jobs[i]);
    const auto ran = run_time(job, now());
    table.add({shown[i], job.name, job.queue, job.status, job.exit_code ? fmt::format("{}", *job.exit_code) : "",
               time_text(job.created.value_or(Instant{})), time_text(job.stopped.value_or(Instant{})),
               ran ? duration_text(*ran) : "", job.status == "FAILED" ? why_failed(job) : ""});
  }
  return table;
}

Outcome<Wanted> wanted_of(const Options& options) {
  Wanted wanted{.statuses = {"SUCCEEDED", "FAILED"}, .name = options.name, .since = {}, .limit = options.limit};
  if (!options.status.empty()) {
    std::string status = options.status;
    for (char& c : status) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (!is_finished_status(status)) {
      return usage(fmt::format("--status: '{}' is neither SUCCEEDED nor FAILED; 'teson jobs' lists live ones", status));
    }
    wanted.statuses = {status};
  }
  if (!options.since.empty()) {
    const auto span = parse_duration(options.since);
    if (!span) return bad_flag("--since", span.error());
    wanted.since = now() - *span;
  }
  return wanted;
}

Outcome<int> run_history(const Context& context, const Options& options) {
  const auto wanted = wanted_of(options);
  if (!wanted) return std::unexpected(wanted.error());
  auto session = open_session(context.global);
  if (!session) return std::unexpected(session.error());
  Client client(*std::move(session));
  const auto queues = options.queue.empty() ? queue_names(client) : Outcome<std::vector<std::string>>({options.queue});
  if (!queues) return std::unexpected(queues.error());
  Wanted one_more = *wanted;
  ++one_more.limit;
  auto jobs = find_finished(client, *queues, one_more);
  if (!jobs) return std::unexpected(jobs.error());
  const bool cut = jobs->size() > options.limit;
  if (cut) jobs->resize(options.limit);
  if (context.json()) {
    print_json(Json::object({{"jobs", *jobs}}));
    return 0;
  }
  if (jobs->empty()) {
    note("no finished job is like that; 'teson jobs' lists live ones");
    return 0;
  }
  print_table(history_table(*jobs));
  if (cut) note("there are more: --limit N shows more of them");
  return 0;
}

}  // namespace

void add_history(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("history", "List finished jobs, the newest first");
  auto options = std::make_shared<Options>();
  command->add_option("--queue", options->queue, "Of this queue only")->type_name("QUEUE");
  command->add_option("--status", options->status, "SUCCEEDED or FAILED only")->type_name("STATUS");
  command->add_option("--name", options->name, "Of this name, in any case; a '*' at its end stands for any rest")
      ->type_name("PATTERN");
  command->add_option("--since", options->since, "Submitted at most so long ago: 90m, 2d")->type_name("DURATION");
  command->add_option("--limit", options->limit, "At most so many")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->callback(
      [&context, options] { context.action = [&context, options] { return run_history(context, *options); }; });
}

}  // namespace teson::cli
