#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "cli/commands/commands.h"
#include "cli/commands/follow.h"
#include "cli/interrupt.h"
#include "cli/jobs.h"
#include "cli/output.h"
#include "cli/run_request.h"
#include "cli/server_process.h"
#include "cli/text.h"

namespace teson::cli {
namespace {

struct Options {
  RunOptions job;
  FollowOptions follow;
  // Known from elsewhere, not here yet: refused in words.
  std::string nodes, checkpoints, max_wait;
};

Outcome<void> refuse_later_ones(const Options& options) {
  const std::pair<const char*, const std::string&> later[] = {
      {"--nodes", options.nodes}, {"--checkpoints", options.checkpoints}, {"--max-wait", options.max_wait}};
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

// Ids as users give them become the entries of dependsOn.
Outcome<Json> depends_on(Client& client, const Dependencies& given) {
  struct Kind {
    const char* flag;
    const std::vector<std::string>& ids;
    const char* type;
  };
  const Kind kinds[] = {{"--after", given.after, ""},
                        {"--after-any", given.after_any, ""},
                        {"--each-after", given.each_after, "N_TO_N"},
                        {"--each-after-any", given.each_after_any, "N_TO_N"}};
  Json list = Json::array();
  for (const auto& [flag, words, type] : kinds) {
    const auto ids = resolve_job_ids(client, words);
    if (!ids) {
      return failure(ids.error().kind, fmt::format("{}: {}", flag, ids.error().message), ids.error().code);
    }
    for (const std::string& id : *ids) {
      list.push_back(Json::object({{"jobId", id}}));
      if (*type != '\0') list.back()["type"] = type;
    }
  }
  if (given.sequential || given.sequential_any) list.push_back(Json::object({{"type", "SEQUENTIAL"}}));
  return list;
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
  auto dependencies = depends_on(client, options.job.depends_on);
  if (!dependencies) return std::unexpected(dependencies.error());
  if (!dependencies->empty()) (*request)["dependsOn"] = *std::move(dependencies);
  if (const auto defined = ensure_definition(client, options.job.image); !defined)
    return std::unexpected(defined.error());
  if (interrupted()) return kExitInterrupted;
  options.follow.array = request->contains("arrayProperties");
  return submit_and_follow(context, options.follow, client, *request);
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

void add_dependency_options(CLI::App* command, RunOptions& job) {
  Dependencies& depends_on = job.depends_on;
  command->add_option("--array", job.array, "Many jobs that differ by AWS_BATCH_JOB_ARRAY_INDEX; %8: 8 of them at once")
      ->type_name("0-N[%8]");
  const auto ids = [command](const char* flag, std::vector<std::string>& list, const char* about) {
    command->add_option(flag, list, about)->type_name("ID")->allow_extra_args(false);
  };
  ids("--after", depends_on.after, "Start when this job has succeeded; may be given again");
  ids("--after-any", depends_on.after_any, "Start when this job has ended, whatever became of it; may be given again");
  ids("--each-after", depends_on.each_after, "Each child after the child of the same index of this array");
  ids("--each-after-any", depends_on.each_after_any, "The same, whatever became of that child");
  command->add_flag("--sequential", depends_on.sequential, "Each child after the one before it has succeeded");
  command->add_flag("--sequential-any", depends_on.sequential_any, "The same, whatever became of the one before it");
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
  command
      ->add_option("--workdir", job.working_directory,
                   "Working directory (default: this one); fresh: a new one for each attempt")
      ->type_name("DIR");
  add_dependency_options(command, job);
  add_follow_options(command, options->follow);
  command->add_option("--nodes", options->nodes)->group("");
  command->add_option("--checkpoints", options->checkpoints)->group("");
  command->add_option("--max-wait", options->max_wait)->group("");
  command->callback(
      [&context, options] { context.action = [&context, options] { return run_run(context, *options); }; });
}

}  // namespace teson::cli
