#include "cli/commands/follow.h"

#include <fmt/format.h>

#include <utility>

#include "cli/array_follow.h"
#include "cli/commands/commands.h"
#include "cli/interrupt.h"
#include "cli/jobs.h"
#include "cli/log_output.h"
#include "cli/log_reader.h"
#include "cli/output.h"
#include "cli/short_id.h"
#include "cli/text.h"

namespace teson::cli {
namespace {

std::string how_to_name_server(const Context& context) {
  std::string flags;
  if (!context.global.data.empty()) flags += " --data " + shell_command({context.global.data});
  if (!context.global.endpoint.empty()) flags += " --endpoint " + shell_command({context.global.endpoint});
  return flags;
}

// At Ctrl-C with --stop-on-interrupt: following goes on, to the job's last line and exit code.
Outcome<bool> stop_job(Client& client, const std::string& id) {
  note(fmt::format("stopping job {}; Ctrl-C again leaves it to stop by itself", id));
  forget_interrupt();
  const auto stopped =
      client.batch("TerminateJob", Json::object({{"jobId", id}, {"reason", "Interrupted by its user"}}));
  if (!stopped) return std::unexpected(stopped.error());
  return true;
}

FollowHooks hooks_for(const Context& context, const FollowOptions& options, const std::string& id) {
  FollowHooks hooks{.reopen = [&context] { return open_session(context.global); }, .go_on_when_interrupted = {}};
  if (options.stop_on_interrupt)
    hooks.go_on_when_interrupted = [id, stopping = false](Client& server) mutable {
      return std::exchange(stopping, true) ? Outcome<bool>(false) : stop_job(server, id);
    };
  return hooks;
}

int stopped_following(const Context& context, const char* again, const std::string& id) {
  note(fmt::format(
      "stopped following; the job goes on\n  follow it again: teson {0}{1} {2}\n  stop it:         teson stop{1} {2}",
      again, how_to_name_server(context), short_form(id)));
  return kExitInterrupted;
}

Outcome<int> follow_job(const Context& context, const FollowOptions& options, Client& client, const std::string& id) {
  const LogSink sink = log_output({context.json(), false});
  const auto end = follow_log(client, id, {}, sink, hooks_for(context, options, id));
  if (!end) {
    note(fmt::format("the job goes on; follow it again with: teson logs -f{} {}", how_to_name_server(context), id));
    return std::unexpected(end.error());
  }
  if (end->interrupted) return stopped_following(context, "logs -f", id);
  const JobView& job = end->job;
  if (job.status != "SUCCEEDED") {
    note(fmt::format("{} {} after {} attempt{}: {}", job_label(job), job.status, job.attempts.size(),
                     job.attempts.size() == 1 ? "" : "s", printable(why_failed(job))));
  }
  return exit_code_of(job);
}

// The first failed children, and what to do about them.
void tell_failures(const Context& context, const ArrayView& array, const JobView& job,
                   const std::vector<Json>& failures) {
  const std::string server = how_to_name_server(context);
  const std::string id = short_form(job.id);
  // Batch says this of every array that failed by its children: it explains nothing.
  const bool by_children = job.status_reason.empty() || job.status_reason == "Array Child Job failed";
  note(fmt::format("{} FAILED: {} of {} children failed{}", job_label(job), array.failed, array.children(),
                   by_children ? "" : ": " + printable(job.status_reason)));
  if (failures.empty()) return;
  print_aside(failures_table(failures).render(stderr_width()));
  if (array.failed > static_cast<int64_t>(failures.size())) {
    print_aside(fmt::format("  all of them:    teson jobs{} --array {} --status FAILED\n", server, id));
  }
  print_aside(fmt::format("  the log of one: teson logs{0} {1}\n  run them again: teson rerun{0} --failed {2}\n",
                          server, short_form(text_field(failures.front(), "jobId")), id));
}

Outcome<int> follow_whole_array(const Context& context, const FollowOptions& options, Client& client,
                                const std::string& id) {
  ProgressLine progress(stderr_is_terminal(), stderr_width(), print_aside);
  const auto end = follow_array(client, id, progress, hooks_for(context, options, id));
  if (!end) {
    note(fmt::format("the job goes on; see how it stands with: teson show{} {}", how_to_name_server(context), id));
    return std::unexpected(end.error());
  }
  if (end->interrupted) return stopped_following(context, "show", id);
  const JobView job = job_view(end->detail);
  const ArrayView array = array_view(end->detail).value_or(ArrayView{});
  const bool succeeded = job.status == "SUCCEEDED";
  const auto failures = succeeded ? Outcome<std::vector<Json>>(std::vector<Json>{}) : first_failures(client, id);
  if (!failures) return std::unexpected(failures.error());
  if (context.json()) print_json(Json::object({{"job", end->detail}, {"firstFailures", *failures}}));
  if (succeeded) return 0;
  tell_failures(context, array, job, *failures);
  return failures->empty() ? 1 : exit_code_of(job_view(failures->front()));
}

}  // namespace

void add_follow_options(CLI::App* command, FollowOptions& options) {
  command->add_flag("--detach", options.detach, "Print the job's id and return");
  command->add_flag("--stop-on-interrupt", options.stop_on_interrupt, "Ctrl-C stops the job, not only the following");
}

Outcome<int> submit_and_follow(const Context& context, const FollowOptions& options, Client& client,
                               const Json& request) {
  const auto submitted = client.batch("SubmitJob", request);
  if (!submitted) return std::unexpected(submitted.error());
  const std::string id = text_field(*submitted, "jobId");
  if (options.detach) {
    if (context.json()) {
      print_json(*submitted);
    } else {
      print(id + "\n");
    }
    return 0;
  }
  note(fmt::format("{} is job {}", text_field(*submitted, "jobName"), id));
  return options.array ? follow_whole_array(context, options, client, id) : follow_job(context, options, client, id);
}

}  // namespace teson::cli
