#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/commands.h"
#include "cli/interrupt.h"
#include "cli/jobs.h"
#include "cli/output.h"
#include "cli/text.h"

namespace teson::cli {
namespace {

constexpr size_t kLongestReason = 1024;  // TerminateJob's limit
constexpr Duration kPause = Duration::millis(200);

struct Options {
  std::vector<std::string> ids;
  std::string reason = "Stopped by its user";
  bool wait = false;
};

// Until none of them is live. False: interrupted.
Outcome<bool> wait_until_finished(Client& client, const std::vector<std::string>& ids) {
  watch_interrupts();
  while (!interrupted()) {
    const auto jobs = describe_jobs(client, ids);
    if (!jobs) return std::unexpected(jobs.error());
    const bool all = std::all_of(jobs->begin(), jobs->end(),
                                 [](const Json& job) { return is_finished_status(text_field(job, "status")); });
    if (all) return true;
    wait_for(kPause);
  }
  return false;
}

Outcome<int> run_stop(const Context& context, const Options& options) {
  if (options.reason.empty() || options.reason.size() > kLongestReason || !is_utf8(options.reason)) {
    return usage(
        fmt::format("--reason: must be 1 to {} bytes of UTF-8, not {}", kLongestReason, options.reason.size()));
  }
  auto session = open_session(context.global);
  if (!session) return std::unexpected(session.error());
  Client client(*std::move(session));
  const auto ids = resolve_job_ids(client, options.ids);
  if (!ids) return std::unexpected(ids.error());
  const auto before = describe_jobs(client, *ids);
  if (!before) return std::unexpected(before.error());
  for (const std::string& id : *ids) {
    const auto known = [&](const Json& job) { return text_field(job, "jobId") == id; };
    if (std::none_of(before->begin(), before->end(), known)) return usage(fmt::format("there is no job {}", id));
    const auto answer = client.batch("TerminateJob", Json::object({{"jobId", id}, {"reason", options.reason}}));
    if (!answer) return std::unexpected(answer.error());
  }
  const Outcome<bool> waited = options.wait ? wait_until_finished(client, *ids) : true;
  if (!waited) return std::unexpected(waited.error());
  const auto jobs = describe_jobs(client, *ids);
  if (!jobs) return std::unexpected(jobs.error());
  if (context.json()) {
    Json list = Json::array();
    for (const Json& job : *jobs) {
      const JobView view = job_view(job);
      list.push_back(Json::object({{"jobId", view.id}, {"jobName", view.name}, {"status", view.status}}));
    }
    print_json(Json::object({{"jobs", list}}));
  } else {
    for (const Json& job : *jobs) {
      const JobView view = job_view(job);
      print(fmt::format("{}: {}\n", job_label(view),
                        is_finished_status(view.status) ? view.status : "stopping, now " + view.status));
    }
  }
  return *waited ? 0 : kExitInterrupted;
}

}  // namespace

void add_stop(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("stop", "Stop jobs: SIGTERM, their grace period, then SIGKILL");
  auto options = std::make_shared<Options>();
  command->add_option("id", options->ids, "Job ids, or the beginnings of some; ID:INDEX is a child of an array")
      ->required()
      ->type_name("ID");
  command->add_option("--reason", options->reason, "Kept with the job")->type_name("TEXT")->capture_default_str();
  command->add_flag("--wait", options->wait, "Return when all of them have ended");
  command->callback(
      [&context, options] { context.action = [&context, options] { return run_stop(context, *options); }; });
}

}  // namespace teson::cli
