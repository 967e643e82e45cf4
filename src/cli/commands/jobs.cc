#include "cli/jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "cli/array_view.h"
#include "cli/commands/commands.h"
#include "cli/output.h"
#include "cli/short_id.h"
#include "cli/units.h"
#include "domain/user.h"

namespace teson::cli {
namespace {

constexpr const char* kLive[] = {"SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING"};
constexpr const char* kFinished[] = {"SUCCEEDED", "FAILED"};

struct Options {
  std::string queue;
  std::string array;
  std::vector<std::string> statuses;
  size_t limit = 50;
  bool all = false;
};

struct Selection {
  std::vector<Json> summaries;
  bool cut = false;
};

bool newer(const Json& a, const Json& b) {
  return int_field(a, "createdAt").value_or(0) > int_field(b, "createdAt").value_or(0);
}

// The newest `limit` jobs of the given statuses in the given queues.
Outcome<Selection> newest(Client& client, const std::vector<std::string>& queues,
                          const std::vector<std::string>& statuses, size_t limit) {
  Selection selection;
  // One more than is shown tells whether there are more.
  const size_t wanted = limit == SIZE_MAX ? limit : limit + 1;
  for (const std::string& queue : queues) {
    for (const std::string& status : statuses) {
      auto jobs = list_jobs(client, queue, status, wanted);
      if (!jobs) return std::unexpected(jobs.error());
      std::move(jobs->begin(), jobs->end(), std::back_inserter(selection.summaries));
    }
  }
  std::stable_sort(selection.summaries.begin(), selection.summaries.end(), newer);
  if (selection.summaries.size() > limit) {
    selection.summaries.resize(limit);
    selection.cut = true;
  }
  return selection;
}

// Live jobs first, then the most recent finished ones, as far as there is room.
Outcome<Selection> live_and_recent(Client& client, const std::vector<std::string>& queues, size_t limit) {
  auto live = newest(client, queues, {std::begin(kLive), std::end(kLive)}, limit);
  if (!live) return live;
  const size_t room = limit == SIZE_MAX ? limit : limit - live->summaries.size();
  auto finished = newest(client, queues, {std::begin(kFinished), std::end(kFinished)}, room);
  if (!finished) return finished;
  Selection both = *std::move(live);
  both.cut = both.cut || finished->cut;
  std::move(finished->summaries.begin(), finished->summaries.end(), std::back_inserter(both.summaries));
  return both;
}

int64_t index_of(const Json& child) { return child_index(child).value_or(0); }

// The children of an array with the lowest indexes.
Outcome<Selection> first_children(Client& client, const std::string& given, std::vector<std::string> statuses,
                                  size_t limit) {
  const auto id = resolve_job_id(client, given);
  if (!id) return std::unexpected(id.error());
  if (statuses.empty()) {
    statuses.assign(std::begin(kLive), std::end(kLive));
    statuses.insert(statuses.end(), std::begin(kFinished), std::end(kFinished));
  }
  Selection selection;
  const size_t wanted = limit == SIZE_MAX ? limit : limit + 1;
  for (const std::string& status : statuses) {
    auto children = list_children(client, *id, status, wanted);
    if (!children) return std::unexpected(children.error());
    std::move(children->begin(), children->end(), std::back_inserter(selection.summaries));
  }
  auto& found = selection.summaries;
  // A child that moved on between two looks was seen twice.
  std::stable_sort(found.begin(), found.end(), [](const Json& a, const Json& b) { return index_of(a) < index_of(b); });
  found.erase(
      std::unique(found.begin(), found.end(), [](const Json& a, const Json& b) { return index_of(a) == index_of(b); }),
      found.end());
  selection.cut = found.size() > limit;
  if (selection.cut) found.resize(limit);
  return selection;
}

Outcome<Selection> select(Client& client, const Options& options, const std::vector<std::string>& statuses) {
  const size_t limit = options.all ? SIZE_MAX : options.limit;
  if (!options.array.empty()) return first_children(client, options.array, statuses, limit);
  const auto queues = options.queue.empty() ? queue_names(client) : Outcome<std::vector<std::string>>({options.queue});
  if (!queues) return std::unexpected(queues.error());
  return statuses.empty() ? live_and_recent(client, *queues, limit) : newest(client, *queues, statuses, limit);
}

// A success needs no explanation.
std::string remark_on(const Json& detail, const JobView& job) {
  if (const auto array = array_view(detail); array && !is_finished_status(job.status)) return progress_text(*array);
  if (job.status == "SUCCEEDED") return "";
  return job.status == "FAILED" ? why_failed(job) : job.status_reason;
}

Table jobs_table(const std::vector<Json>& details) {
  std::vector<JobView> views;
  std::vector<std::string> ids;
  for (const Json& detail : details) {
    views.push_back(job_view(detail));
    ids.push_back(views.back().id);
  }
  const std::vector<std::string> shown_ids = short_ids(ids);
  const Instant at = now();
  // Where nobody but the first user has jobs, whose they are is no question.
  const bool owned = std::ranges::any_of(views, [](const JobView& job) { return job.owner != kFirstUser; });
  std::vector<Table::Column> columns = {{"ID"}, {"NAME"}};
  if (owned) columns.push_back({"OWNER"});
  for (const char* title : {"QUEUE", "STATUS"}) columns.push_back({title});
  columns.push_back({"ATTEMPTS", Align::kRight});
  columns.push_back({"CREATED"});
  columns.push_back({"RAN", Align::kRight});
  columns.push_back({"REASON"});
  Table table(std::move(columns));
  for (size_t i = 0; i < views.size(); ++i) {
    const JobView& job = views[i];
    const auto ran = run_time(job, at);
    std::vector<std::string> cells = {shown_ids[i], job.name};
    if (owned) cells.push_back(job.owner);
    for (const std::string& cell :
         {job.queue, job.status, fmt::format("{}", job.attempts.size()), time_text(job.created.value_or(Instant{})),
          ran ? duration_text(*ran) : std::string(), remark_on(details[i], job)}) {
      cells.push_back(cell);
    }
    table.add(std::move(cells));
  }
  return table;
}

Outcome<std::vector<std::string>> wanted_statuses(const Options& options) {
  std::vector<std::string> statuses;
  for (std::string status : options.statuses) {
    for (char& c : status) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (!is_status(status)) {
      return usage(
          fmt::format("--status: '{}' is none of SUBMITTED, PENDING, RUNNABLE, STARTING, RUNNING, SUCCEEDED, "
                      "FAILED",
                      status));
    }
    if (std::find(statuses.begin(), statuses.end(), status) == statuses.end()) statuses.push_back(status);
  }
  return statuses;
}

Outcome<int> run_jobs(const Context& context, const Options& options) {
  const auto statuses = wanted_statuses(options);
  if (!statuses) return std::unexpected(statuses.error());
  if (!options.array.empty() && !options.queue.empty()) {
    return usage("--array and --queue: give one of them; an array's children are all in its queue");
  }
  auto session = open_session(context.global);
  if (!session) return std::unexpected(session.error());
  Client client(*std::move(session));
  const auto selection = select(client, options, *statuses);
  if (!selection) return std::unexpected(selection.error());
  std::vector<std::string> ids;
  for (const Json& summary : selection->summaries) ids.push_back(text_field(summary, "jobId"));
  const auto details = describe_jobs(client, ids);
  if (!details) return std::unexpected(details.error());
  if (context.json()) {
    print_json(Json::object({{"jobs", *details}}));
    return 0;
  }
  print_table(jobs_table(*details));
  if (selection->cut) note("there are more: --all shows every job, --limit N more of them");
  return 0;
}

}  // namespace

void add_jobs(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("jobs", "List jobs: live ones and the most recent finished ones");
  auto options = std::make_shared<Options>();
  command->add_option("--queue", options->queue, "Of this queue only")->type_name("QUEUE");
  command->add_option("--array", options->array, "The children of this array, by index")->type_name("ID");
  command->add_option("--status", options->statuses, "Of this status only; may be given again")
      ->type_name("STATUS")
      ->allow_extra_args(false);
  command->add_option("--limit", options->limit, "At most so many")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_flag("--all", options->all, "Every job there is, or every child");
  command->callback(
      [&context, options] { context.action = [&context, options] { return run_jobs(context, *options); }; });
}

}  // namespace teson::cli
