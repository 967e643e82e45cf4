#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/jobs.h"
#include "cli/output.h"
#include "cli/short_id.h"
#include "cli/text.h"
#include "wire/uri.h"

namespace teson::cli {
namespace {

Outcome<int> run_explain(const Context& context, const std::string& given) {
  auto session = open_session(context.global);
  if (!session) return std::unexpected(session.error());
  Client client(*std::move(session));
  const auto id = resolve_job_id(client, given);
  if (!id) return std::unexpected(id.error());
  const auto answer = client.native("/teson/v1/explain", "job=" + wire::percent_encode(*id));
  if (!answer) return std::unexpected(answer.error());
  if (context.json()) {
    print_json(*answer);
    return 0;
  }
  print(fmt::format("{} ({}) is {}: {}\n", printable(text_field(*answer, "jobName")), short_form(*id),
                    text_field(*answer, "status"), printable(text_field(*answer, "sentence"))));
  for (const Json& line : array_field(*answer, "lines")) {
    if (line.is_string()) print("  " + printable(line.get<std::string>()) + "\n");
  }
  return 0;
}

}  // namespace

void add_explain(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("explain", "Say why a job waits, until when it runs, or what ended it, with the figures");
  auto id = std::make_shared<std::string>();
  command->add_option("id", *id, "Job id, or the beginning of one; ID:INDEX is a child of an array")
      ->required()
      ->type_name("ID");
  command->callback([&context, id] { context.action = [&context, id] { return run_explain(context, *id); }; });
}

}  // namespace teson::cli
