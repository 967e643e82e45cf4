#include "cli/rerun_request.h"

#include <fmt/format.h>

#include "cli/array_view.h"
#include "cli/commands/commands.h"
#include "cli/commands/follow.h"
#include "cli/interrupt.h"
#include "cli/output.h"

namespace teson::cli {
namespace {

struct Options {
  std::string id;
  bool failed = false;
  FollowOptions follow{.detach = false, .stop_on_interrupt = false, .array = true};
};

Outcome<int> run_rerun(const Context& context, const Options& options) {
  if (!options.failed) return usage("rerun: the failed children are what runs again; say so: teson rerun --failed ID");
  watch_interrupts();
  auto session = open_session(context.global);
  if (!session) return std::unexpected(session.error());
  Client client(*std::move(session));
  const auto id = resolve_job_id(client, options.id);
  if (!id) return std::unexpected(id.error());
  const auto detail = describe_job(client, *id);
  if (!detail) return std::unexpected(detail.error());
  const auto request = rerun_request(*detail);
  if (!request) return std::unexpected(request.error());
  if (interrupted()) return kExitInterrupted;
  return submit_and_follow(context, options.follow, client, *request);
}

}  // namespace

void add_rerun(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("rerun", "Run the failed children of an array again, under the same indexes");
  auto options = std::make_shared<Options>();
  command->add_option("id", options->id, "Id of an array that has ended, or the beginning of one")
      ->required()
      ->type_name("ID");
  command->add_flag("--failed", options->failed, "The failed children (there is no other choice yet)");
  add_follow_options(command, options->follow);
  command->callback(
      [&context, options] { context.action = [&context, options] { return run_rerun(context, *options); }; });
}

}  // namespace teson::cli
