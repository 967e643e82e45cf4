#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/jobs.h"
#include "cli/output.h"
#include "cli/text.h"
#include "cli/units.h"
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
    text += (text.empty() ? "" : ", ") + text_field(dependency, "jobId");
  }
  return text;
}

void print_facts(const Json& detail, const JobView& job) {
  const Json& container = field(detail, "container");
  line("job", job.id);
  line("name", job.name);
  line("status", job.status);
  line("reason", job.status_reason);
  if (job.exit_code) line("exit code", fmt::format("{}", *job.exit_code));
  if (job.owner != kFirstUser) line("owner", job.owner);
  line("queue", job.queue);
  line("definition", job.definition);
  line("image", job.image);
  line("command", shell_command(job.command));
  line("resources", resources_of(container));
  if (const auto attempts = int_field(field(detail, "retryStrategy"), "attempts")) {
    line("attempts", fmt::format("{} of at most {}", job.attempts.size(), *attempts));
  }
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
  return fmt::format("{}/attempts/{}/{}/stdout.log", session.data, job.id, attempt.number);
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
  return 0;
}

}  // namespace

void add_show(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("show", "Show all about one job, with its attempts and where their logs lie");
  auto id = std::make_shared<std::string>();
  command->add_option("id", *id, "Job id, or the beginning of one")->required()->type_name("ID");
  command->callback([&context, id] { context.action = [&context, id] { return run_show(context, *id); }; });
}

}  // namespace teson::cli
