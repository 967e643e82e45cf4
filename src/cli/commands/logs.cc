#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/interrupt.h"
#include "cli/jobs.h"
#include "cli/log_output.h"
#include "cli/log_reader.h"
#include "cli/output.h"
#include "cli/text.h"

namespace teson::cli {
namespace {

// Some of the log was refused, as the sink has been told.
constexpr int kExitUnread = exit_code(FailureKind::kService);

struct Options {
  std::string id;
  bool follow = false;
  bool timestamps = false;
  std::optional<int> attempt;
  std::optional<int64_t> tail;
};

Outcome<int> follow(const Context& context, Client& client, const std::string& id, const LogSelection& selection,
                    const LogSink& sink) {
  watch_interrupts();
  const auto end = follow_log(client, id, selection, sink,
                              {.reopen = [&] { return open_session(context.global); }, .go_on_when_interrupted = {}});
  if (!end) return std::unexpected(end.error());
  if (end->interrupted) return kExitInterrupted;
  const JobView& job = end->job;
  if (is_finished_status(job.status)) {
    note(fmt::format("{} {}{}", job_label(job), job.status,
                     job.status == "FAILED" ? ": " + printable(why_failed(job)) : ""));
  }
  return end->complete ? 0 : kExitUnread;
}

Outcome<int> run_logs(const Context& context, const Options& options) {
  auto session = open_session(context.global);
  if (!session) return std::unexpected(session.error());
  Client client(*std::move(session));
  const auto id = resolve_job_id(client, options.id);
  if (!id) return std::unexpected(id.error());
  const LogSelection selection{options.attempt, options.tail};
  const LogSink sink = log_output({context.json(), options.timestamps});
  if (options.follow) return follow(context, client, *id, selection, sink);
  const auto end = read_log(client, *id, selection, sink);
  if (!end) return std::unexpected(end.error());
  const JobView& job = end->job;
  const int last = job.attempts.empty() ? 0 : job.attempts.back().number;
  if (options.attempt && *options.attempt > last) {
    return usage(fmt::format("--attempt: {} has {} attempt{} so far, so there is no number {}", job_label(job), last,
                             last == 1 ? "" : "s", *options.attempt));
  }
  if (last == 0) note(fmt::format("{} has not run yet: it is {}", job_label(job), job.status));
  return end->complete ? 0 : kExitUnread;
}

}  // namespace

void add_logs(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("logs", "Print a job's log, all its attempts in order");
  auto options = std::make_shared<Options>();
  command->add_option("id", options->id, "Job id, or the beginning of one; ID:INDEX is a child of an array")
      ->required()
      ->type_name("ID");
  command->add_flag("-f,--follow", options->follow, "Go on until the job has ended");
  command->add_option("--attempt", options->attempt, "This attempt alone, from 1")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command->add_option("--tail", options->tail, "Begin at the last N lines of the last attempt")
      ->type_name("N")
      ->check(CLI::Range(int64_t{0}, int64_t{10'000'000}));
  command->add_flag("--timestamps", options->timestamps, "Each line after its time (UTC)");
  command->callback(
      [&context, options] { context.action = [&context, options] { return run_logs(context, *options); }; });
}

}  // namespace teson::cli
