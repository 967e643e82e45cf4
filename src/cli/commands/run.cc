#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "cli/commands/commands.h"
#include "cli/interrupt.h"
#include "cli/jobs.h"
#include "cli/log_output.h"
#include "cli/log_reader.h"
#include "cli/output.h"
#include "cli/run_request.h"
#include "cli/server_process.h"
#include "cli/text.h"

namespace teson::cli {
namespace {

struct Options {
  RunOptions job;
  bool detach = false;
  bool stop_on_interrupt = false;
  // Known from elsewhere, not here yet: refused in words.
  std::string nodes, array, checkpoints, max_wait;
};

Outcome<void> refuse_later_ones(const Options& options) {
  const std::pair<const char*, const std::string&> later[] = {{"--nodes", options.nodes},
                                                              {"--array", options.array},
                                                              {"--checkpoints", options.checkpoints},
                                                              {"--max-wait", options.max_wait}};
  for (const auto& [flag, value] : later) {
    if (!value.empty())
      return usage(fmt::format("{} {}: comes with a later version; run without it", flag, printable(value)));
  }
  return {};
}

Outcome<void> check_working_directory(const Json& request) {
  const std::string path = text_field(field(request, "tags"), "teson:working-directory");
  std::error_code error;
  if (path.empty() || std::filesystem::is_directory(path, error)) return {};
  return usage(
      fmt::format("--workdir: '{}' is not a directory here; 'fresh' gives each attempt its own", printable(path)));
}

// Once for each image; a definition that somebody has changed to another image is not used.
Outcome<void> ensure_definition(Client& client, const std::string& image) {
  const auto known = client.batch("DescribeJobDefinitions",
                                  Json::object({{"jobDefinitionName", definition_name(image)}, {"status", "ACTIVE"}}));
  if (!known) return std::unexpected(known.error());
  int64_t newest = 0;
  bool right = false;
  for (const Json& definition : array_field(*known, "jobDefinitions")) {
    const int64_t revision = int_field(definition, "revision").value_or(0);
    if (revision <= newest) continue;
    newest = revision;
    right = text_field(field(definition, "containerProperties"), "image") == image;
  }
  if (right) return {};
  const auto registered = client.batch("RegisterJobDefinition", register_request(image));
  if (!registered) return std::unexpected(registered.error());
  return {};
}

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

// Follows to the end and gives the job's own exit code.
Outcome<int> follow(const Context& context, const Options& options, Client& client, const std::string& id) {
  const LogSink sink = log_output({context.json(), false});
  FollowHooks hooks{.reopen = [&] { return open_session(context.global); }, .go_on_when_interrupted = {}};
  bool stopping = false;
  if (options.stop_on_interrupt)
    hooks.go_on_when_interrupted = [&](Client& server) {
      return std::exchange(stopping, true) ? Outcome<bool>(false) : stop_job(server, id);
    };
  const auto end = follow_log(client, id, {}, sink, hooks);
  if (!end) {
    note(fmt::format("the job goes on; follow it again with: teson logs -f{} {}", how_to_name_server(context), id));
    return std::unexpected(end.error());
  }
  if (end->interrupted) {
    note(fmt::format(
        "stopped following; the job goes on\n  follow it again: teson logs -f{0} {1}\n  stop it:         teson "
        "stop{0} {1}",
        how_to_name_server(context), id.substr(0, 8)));
    return kExitInterrupted;
  }
  const JobView& job = end->job;
  if (job.status != "SUCCEEDED") {
    note(fmt::format("{} {} after {} attempt{}: {}", job_label(job), job.status, job.attempts.size(),
                     job.attempts.size() == 1 ? "" : "s", printable(why_failed(job))));
  }
  return exit_code_of(job);
}

Outcome<int> run_run(const Context& context, Options& options) {
  if (const auto later = refuse_later_ones(options); !later) return std::unexpected(later.error());
  options.job.command = context.after_dashes;
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (error) return failure(FailureKind::kGeneral, "the current directory is not there any more: " + error.message());
  auto request = submit_request(options.job, here.string());
  if (!request) return std::unexpected(request.error());
  if (context.global.endpoint.empty() && options.job.image == "host") {
    if (const auto there = check_working_directory(*request); !there) return std::unexpected(there.error());
  }

  watch_interrupts();
  auto session = ensure_server(context.global);
  if (!session) return std::unexpected(session.error());
  Client client(*std::move(session));
  if (!options.job.after.empty()) {
    const auto ids = resolve_job_ids(client, options.job.after);
    if (!ids) return std::unexpected(Failure{ids.error().kind, "--after: " + ids.error().message, ids.error().code});
    Json dependencies = Json::array();
    for (const std::string& id : *ids) dependencies.push_back(Json::object({{"jobId", id}}));
    (*request)["dependsOn"] = std::move(dependencies);
  }
  if (const auto defined = ensure_definition(client, options.job.image); !defined)
    return std::unexpected(defined.error());
  if (interrupted()) return kExitInterrupted;
  const auto submitted = client.batch("SubmitJob", *request);
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
  return follow(context, options, client, id);
}

void add_resource_options(CLI::App* command, RunOptions& job) {
  command->add_option("--vcpus", job.vcpus, "CPUs, such as 2 or 0.25")->type_name("N")->capture_default_str();
  command->add_option("--memory", job.memory, "Memory, a hard limit: 4GiB, 4096MiB or 4G")
      ->type_name("SIZE")
      ->capture_default_str();
  command->add_option("--gpus", job.gpus, "GPUs, each for this job alone")->type_name("N")->capture_default_str();
  command->add_option("--retries", job.retries, "Tries after a first that failed")
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--max-run", job.max_run, "Longest time for an attempt: 90s, 8h or 1h30m")->type_name("TIME");
  command->add_option("--grace", job.grace, "From SIGTERM to SIGKILL (default: the server's, 30s)")->type_name("TIME");
}

// The command to run is not CLI11's to parse, so its place in the usage line has to be told.
class RunHelp : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: teson run [OPTIONS] -- COMMAND [ARGUMENT...]\n\n";
  }
};

}  // namespace

void add_run(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("run", "Run a command as a job and follow it; its exit code is passed through");
  command->formatter(std::make_shared<RunHelp>());
  auto options = std::make_shared<Options>();
  RunOptions& job = options->job;
  command->add_option("--name", job.name, "Job name (default: from the command)")->type_name("NAME");
  command->add_flag("--spot", job.spot, "On capacity that may be taken away; interruptions do not count as attempts");
  command->add_option("--queue", job.queue, "Queue (default: default, or spot with --spot)")->type_name("QUEUE");
  add_resource_options(command, job);
  command->add_option("--image", job.image, "Image; host is this machine's own file system")
      ->type_name("IMAGE")
      ->capture_default_str();
  command->add_option("--env", job.environment, "Variable, NAME=value, or NAME for its value here; may be given again")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command->add_option("--after", job.after, "Start when this job has succeeded; may be given again")
      ->type_name("ID")
      ->allow_extra_args(false);
  command
      ->add_option("--workdir", job.working_directory,
                   "Working directory (default: this one); fresh: a new one for each attempt")
      ->type_name("DIR");
  command->add_flag("--detach", options->detach, "Print the job's id and return");
  command->add_flag("--stop-on-interrupt", options->stop_on_interrupt, "Ctrl-C stops the job, not only the following");
  command->add_option("--nodes", options->nodes)->group("");
  command->add_option("--array", options->array)->group("");
  command->add_option("--checkpoints", options->checkpoints)->group("");
  command->add_option("--max-wait", options->max_wait)->group("");
  command->callback(
      [&context, options] { context.action = [&context, options] { return run_run(context, *options); }; });
}

}  // namespace teson::cli
