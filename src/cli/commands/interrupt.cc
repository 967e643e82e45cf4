#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/jobs.h"
#include "cli/output.h"
#include "cli/text.h"

namespace teson::cli {
namespace {

struct Options {
  std::string id;
  std::string reason;
  bool force = false;
};

Outcome<int> run_interrupt(const Context& context, const Options& options) {
  auto session = open_session(context.global);
  if (!session) return std::unexpected(session.error());
  Client client(*std::move(session));
  // No job's id begins with an i.
  const bool instance = options.id.starts_with("i-");
  const auto id = instance ? Outcome<std::string>(options.id) : resolve_job_id(client, options.id);
  if (!id) return std::unexpected(id.error());
  Json request = Json::object({{"id", *id}, {"force", options.force}});
  if (!options.reason.empty()) request["reason"] = options.reason;
  const auto answer = client.native_post("/teson/v1/interrupt", request);
  if (!answer) return std::unexpected(answer.error());
  if (context.json()) {
    print_json(*answer);
    return 0;
  }
  for (const Json& interrupted : array_field(*answer, "instances")) {
    if (!interrupted.is_string()) continue;
    print(fmt::format("{}: is being interrupted; what runs there has its grace period to end\n",
                      printable(interrupted.get<std::string>())));
  }
  return 0;
}

}  // namespace

void add_interrupt(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "interrupt", "Take the spot instance of a job back, as a spot interruption does: SIGTERM, grace, retry rules");
  auto options = std::make_shared<Options>();
  command
      ->add_option("id", options->id,
                   "Job id, or the beginning of one; ID:INDEX is a child of an array; or an instance's id (i-...)")
      ->required()
      ->type_name("ID");
  command->add_option("--reason", options->reason, "Kept with the attempts that it ends")->type_name("TEXT");
  command->add_flag("--force", options->force, "On-demand instances too");
  command->callback(
      [&context, options] { context.action = [&context, options] { return run_interrupt(context, *options); }; });
}

}  // namespace teson::cli
