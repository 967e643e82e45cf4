#include <fmt/format.h>

#include "cli/array_view.h"
#include "cli/commands/commands.h"
#include "cli/jobs.h"
#include "cli/output.h"
#include "cli/short_id.h"
#include "cli/text.h"
#include "cli/units.h"
#include "domain/ids.h"
#include "domain/user.h"

namespace teson::cli {
namespace {

std::string optional_time(const std::optional<Instant>& instant) { return time_text(instant.value_or(Instant{})); }

void line(const char* label, const std::string& value) {
  if (!value.empty() && value != "-") print(fmt::format("{:<13}{}\n", label, printable(value)));
}

std::string resources_of(const Json& container) {
  std::string text;
  for (const Json& requirement : array_field(container, "resourceRequirements")) {
    const std::string type = text_field(requirement, "type");
    const std::string value = text_field(requirement, "value");
    const char* unit = type == "VCPU" ? " vCPU" : type == "MEMORY" ? " MiB" : type == "GPU" ? " GPU" : "";
    text += (text.empty() ? "" : ", ") + value + unit;
  }
  return text;
}

std::string dependencies_of(const Json& detail) {
  std::string text;
  for (const Json& dependency : array_field(detail, "dependsOn")) {
    const std::string type = text_field(dependency, "type");
    const std::string what = type == "SEQUENTIAL" ? "each child after the one before it"
                             : type == "N_TO_N"   ? text_field(dependency, "jobId") + " (child by child)"
                                                  : text_field(dependency, "jobId");
    text += (text.empty() ? "" : ", ") + what;
  }
  return text;
}

void print_array_facts(const Json& detail, const JobView& job) {
  if (const auto array = array_view(detail)) {
    line("array", size_text(*array));
    line("children", progress_text(*array));
  } else if (const auto index = child_index(detail)) {
    const int64_t size = int_field(field(detail, "arrayProperties"), "size").value_or(0);
    line("array", fmt::format("child {} of 0 to {} of {}", *index, size - 1, child_parts(job.id).array));
  }
}

std::string attempts_of(const Json& detail, const JobView& job) {
  const auto most = int_field(field(detail, "retryStrategy"), "attempts");
  if (!most) return {};
  if (array_view(detail)) return fmt::format("at most {} a child", *most);
  return fmt::format("{} of at most {}", job.attempts.size(), *most);
}

void print_facts(const Json& detail, const JobView& job) {
  const Json& container = field(detail, "container");
  line("job", job.id);
  line("name", job.name);
  line("status", job.status);
  print_array_facts(detail, job);
  line("reason", job.status_reason);
  if (job.exit_code) line("exit code", fmt::format("{}", *job.exit_code));
  if (job.owner != kFirstUser) line("owner", job.owner);
  line("queue", job.queue);
  line("definition", job.definition);
  line("image", job.image);
  line("command", shell_command(job.command));
  line("resources", resources_of(container));
  line("attempts", attempts_of(detail, job));
  if (const auto seconds = int_field(field(detail, "timeout"), "attemptDurationSeconds")) {
    line("time limit", duration_text(Duration::seconds(*seconds)) + " an attempt");
  }
  line("after", dependencies_of(detail));
  line("created", optional_time(job.created));
  line("started", optional_time(job.started));
  line("stopped", optional_time(job.stopped));
  if (const auto ran = run_time(job, now())) line("ran", duration_text(*ran));
  for (const auto& tag : field(detail, "tags").items()) {
    if (tag.value().is_string() && tag.key() != "teson:owner")
      line("tag", tag.key() + "=" + tag.value().get<std::string>());
  }
}

// On this machine the log is a file that any tool can read; elsewhere it is a stream.
std::string where_log_lies(const Session& session, const JobView& job, const AttemptView& attempt) {
  if (attempt.log_stream.empty()) return {};
  if (!session.by_data_directory) return attempt.log_stream;
  const auto id = JobId::parse(job.id);
  return fmt::format("{}/attempts/{}/{}/stdout.log", session.data, id ? id->directory_name() : job.id, attempt.number);
}

void print_attempts(const Session& session, const JobView& job) {
  if (job.attempts.empty()) return;
  Table table({{"ATTEMPT", Align::kRight},
               {"STARTED"},
               {"RAN", Align::kRight},
               {"EXIT", Align::kRight},
               {"CAUSE"},
               {"REASON"},
               {"LOG"}});
  for (const AttemptView& attempt : job.attempts) {
    std::string ran;
    if (attempt.started) {
      const Instant end = attempt.stopped.value_or(attempt.live ? now() : *attempt.started);
      if (attempt.stopped || attempt.live) ran = duration_text(end - *attempt.started);
    }
    table.add({fmt::format("{}", attempt.number), optional_time(attempt.started), ran,
               attempt.exit_code ? fmt::format("{}", *attempt.exit_code) : "",
               attempt.live ? job.status : attempt.cause, attempt.reason, where_log_lies(session, job, attempt)});
  }
  // Never cut: the path at its end is there to be copied.
  print("\n" + table.render(0));
}

Outcome<void> print_failures(Client& client, const JobView& job, const ArrayView& array) {
  if (array.failed == 0) return {};
  const auto failures = first_failures(client, job.id);
  if (!failures) return std::unexpected(failures.error());
  print("\n");
  print_table(failures_table(*failures));
  if (array.failed > static_cast<int64_t>(failures->size())) {
    note(fmt::format("{} children failed in all: teson jobs --array {} --status FAILED", array.failed,
                     short_form(job.id)));
  }
  return {};
}

Outcome<int> run_show(const Context& context, const std::string& given) {
  auto session = open_session(context.global);
  if (!session) return std::unexpected(session.error());
  Client client(*std::move(session));
  const auto id = resolve_job_id(client, given);
  if (!id) return std::unexpected(id.error());
  const auto detail = describe_job(client, *id);
  if (!detail) return std::unexpected(detail.error());
  if (context.json()) {
    print_json(*detail);
    return 0;
  }
  const JobView job = job_view(*detail);
  print_facts(*detail, job);
  print_attempts(client.session(), job);
  if (const auto array = array_view(*detail)) {
    if (const auto told = print_failures(client, job, *array); !told) return std::unexpected(told.error());
  }
  return 0;
}

}  // namespace

void add_show(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("show", "Show all about one job, with its attempts and where their logs lie");
  auto id = std::make_shared<std::string>();
  command->add_option("id", *id, "Job id, or the beginning of one; ID:INDEX is a child of an array")
      ->required()
      ->type_name("ID");
  command->callback([&context, id] { context.action = [&context, id] { return run_show(context, *id); }; });
}

}  // namespace teson::cli
