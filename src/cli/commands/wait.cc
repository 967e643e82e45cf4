#include <fmt/format.h>

#include <algorithm>

#include "cli/array_view.h"
#include "cli/commands/commands.h"
#include "cli/interrupt.h"
#include "cli/jobs.h"
#include "cli/output.h"
#include "cli/patience.h"
#include "cli/progress_line.h"
#include "cli/short_id.h"
#include "cli/text.h"
#include "cli/units.h"

namespace teson::cli {
namespace {

constexpr int kExitTimedOut = 124;  // as timeout(1) says it
constexpr Duration kShortestPause = Duration::millis(50);
constexpr Duration kLongestPause = Duration::millis(500);

struct Options {
  std::vector<std::string> ids;
  std::string timeout;
  bool any = false;
};

struct Waited {
  std::vector<Json> details;  // as last seen, in the order given
  bool timed_out = false;
  bool interrupted = false;
};

bool has_ended(const Json& detail) { return is_finished_status(text_field(detail, "status")); }

std::string line_of(const std::vector<Json>& details) {
  if (details.size() == 1) {
    const JobView job = job_view(details.front());
    const auto array = array_view(details.front());
    if (array) return fmt::format("{}: {}", job_label(job), progress_text(*array));
    const std::string reason = job.status_reason.empty() ? "" : " (" + printable(job.status_reason) + ")";
    return fmt::format("{}: {}{}", job_label(job), job.status, has_ended(details.front()) ? "" : reason);
  }
  int64_t ended = 0, failed = 0, running = 0;
  for (const Json& detail : details) {
    const std::string status = text_field(detail, "status");
    ended += has_ended(detail) ? 1 : 0;
    failed += status == "FAILED" ? 1 : 0;
    running += status == "RUNNING" || status == "STARTING" ? 1 : 0;
  }
  return fmt::format("{} of {} jobs have ended, {} failed, {} running", ended, details.size(), failed, running);
}

Outcome<std::vector<Json>> look(Client& client, const std::vector<std::string>& ids) {
  auto details = describe_jobs(client, ids);
  if (!details || details->size() == ids.size()) return details;
  for (const std::string& id : ids) {
    const auto is_it = [&](const Json& detail) { return text_field(detail, "jobId") == id; };
    if (std::ranges::none_of(*details, is_it)) return usage(fmt::format("there is no job {}", printable(id)));
  }
  return details;
}

// Until all have ended, or any; a server that is away for a while is waited for, as when following.
Outcome<Waited> wait_until_ended(const Context& context, Client& client, const std::vector<std::string>& ids, bool any,
                                 std::optional<Instant> deadline) {
  ProgressLine progress(stderr_is_terminal(), stderr_width(), print_aside);
  const auto say = [&](std::string_view text) { progress.message("teson: " + std::string(text)); };
  watch_interrupts();
  Patience patience(kPatience);
  Duration pause = kShortestPause;
  Waited out;
  for (;;) {
    auto details = look(client, ids);
    if (details) {
      patience.answered(say);
      out.details = *std::move(details);
      const auto ended = std::ranges::count_if(out.details, has_ended);
      if (any ? ended > 0 : ended == std::ssize(out.details)) break;
      progress.show(line_of(out.details), now());
    } else if (!details.error().passing || !patience.again(details.error(), say)) {
      progress.leave();
      return std::unexpected(details.error());
    } else if (const auto session = open_session(context.global)) {
      client = Client(*session);
    }
    out.interrupted = interrupted();
    out.timed_out = !out.interrupted && deadline && now() >= *deadline;
    if (out.interrupted || out.timed_out) break;
    const Duration left = deadline ? *deadline - now() : pause;
    wait_for(std::max(std::min(pause, left), Duration::millis(1)));
    pause = std::min(Duration{pause.micros * 3 / 2}, kLongestPause);
  }
  progress.leave();
  return out;
}

Table ended_table(const std::vector<Json>& details) {
  Table table({{"ID"}, {"NAME"}, {"STATUS"}, {"EXIT", Align::kRight}, {"RAN", Align::kRight}, {"REASON"}});
  std::vector<std::string> ids;
  for (const Json& detail : details) ids.push_back(text_field(detail, "jobId"));
  const std::vector<std::string> shown = short_ids(ids);
  for (size_t i = 0; i < details.size(); ++i) {
    const JobView job = job_view(details[i]);
    const auto ran = run_time(job, now());
    const auto array = array_view(details[i]);
    table.add({shown[i], job.name, job.status, job.exit_code ? fmt::format("{}", *job.exit_code) : "",
               ran ? duration_text(*ran) : "",
               job.status == "SUCCEEDED" ? ""
               : array                   ? progress_text(*array)
               : job.status == "FAILED"  ? why_failed(job)
                                         : job.status_reason});
  }
  return table;
}

// 0, or the exit code of the job that failed first; of an array, of its failed child with the lowest index.
Outcome<int> code_of(Client& client, const std::vector<Json>& details) {
  std::optional<JobView> first;
  bool is_array = false;
  for (const Json& detail : details) {
    JobView job = job_view(detail);
    if (job.status != "FAILED") continue;
    if (first && first->stopped.value_or(Instant{}) <= job.stopped.value_or(Instant{})) continue;
    first = std::move(job);
    is_array = array_view(detail).has_value();
  }
  if (!first) return 0;
  if (!is_array) return exit_code_of(*first);
  const auto failures = first_failures(client, first->id);
  if (!failures) return std::unexpected(failures.error());
  return failures->empty() ? 1 : exit_code_of(job_view(failures->front()));
}

Outcome<int> run_wait(const Context& context, const Options& options) {
  std::optional<Instant> deadline;
  if (!options.timeout.empty()) {
    const auto limit = parse_duration(options.timeout);
    if (!limit) return bad_flag("--timeout", limit.error());
    deadline = now() + *limit;
  }
  auto session = open_session(context.global);
  if (!session) return std::unexpected(session.error());
  Client client(*std::move(session));
  auto ids = resolve_job_ids(client, options.ids);
  if (!ids) return std::unexpected(ids.error());
  std::vector<std::string> unique;
  for (const std::string& id : *ids) {
    if (std::ranges::find(unique, id) == unique.end()) unique.push_back(id);
  }
  const auto waited = wait_until_ended(context, client, unique, options.any, deadline);
  if (!waited) return std::unexpected(waited.error());
  if (context.json()) {
    print_json(Json::object({{"jobs", waited->details}, {"timedOut", waited->timed_out}}));
  } else if (!waited->details.empty()) {
    print_table(ended_table(waited->details));
  }
  if (waited->interrupted) {
    note("stopped waiting; the jobs go on");
    return kExitInterrupted;
  }
  if (waited->timed_out) {
    note(fmt::format("--timeout {} is over; the jobs go on", options.timeout));
    return kExitTimedOut;
  }
  return code_of(client, waited->details);
}

}  // namespace

void add_wait(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "wait", "Wait for jobs to end; 0 if all succeeded, else the exit code of the one that failed first");
  auto options = std::make_shared<Options>();
  command->add_option("id", options->ids, "Job ids, or the beginnings of some; ID:INDEX is a child of an array")
      ->required()
      ->type_name("ID");
  command->add_flag("--any", options->any, "Return when one of them has ended");
  command->add_option("--timeout", options->timeout, "Exit with 124 after so long: 90s, 10m, 1h30m; the jobs go on")
      ->type_name("DURATION");
  command->callback(
      [&context, options] { context.action = [&context, options] { return run_wait(context, *options); }; });
}

}  // namespace teson::cli
