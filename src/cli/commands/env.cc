#include <fmt/format.h>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/output.h"
#include "cli/text.h"

namespace teson::cli {
namespace {

Outcome<int> run_env(const Context& context) {
  const auto session = open_session(context.global);
  if (!session) return std::unexpected(session.error());
  std::vector<std::pair<const char*, std::string>> variables = {
      {"AWS_ENDPOINT_URL", session->endpoint},
      {"AWS_ACCESS_KEY_ID", session->keys.access_key_id},
      {"AWS_SECRET_ACCESS_KEY", session->keys.secret_access_key},
      {"AWS_DEFAULT_REGION", session->region},
      {"AWS_REGION", session->region},
  };
  if (const std::string authorities = environment_value("AWS_CA_BUNDLE");
      !authorities.empty() && session->endpoint.starts_with("https://")) {
    variables.emplace_back("AWS_CA_BUNDLE", authorities);
  }
  if (context.json()) {
    Json object = Json::object();
    for (const auto& [name, value] : variables) object[name] = value;
    print_json(object);
    return 0;
  }
  for (const auto& [name, value] : variables) print(fmt::format("export {}={}\n", name, shell_quoted(value)));
  print(fmt::format(
      "# For:  eval \"$(teson env)\"\n"
      "# AWS CLI before 2.13 and boto3 before 1.28 (Debian 12 has 2.9 and 1.26) do not read AWS_ENDPOINT_URL:\n"
      "# give them  --endpoint-url {0}  or  endpoint_url='{0}'.\n",
      session->endpoint));
  if (const auto health = Client(*session).health(); !health) {
    if (health.error().kind == FailureKind::kConfiguration) {
      note(health.error().message);
      return 0;
    }
    note(fmt::format("nothing answers at {} now; 'teson serve --data {}' starts the server", session->endpoint,
                     shell_command({session->data})));
  }
  return 0;
}

}  // namespace

void add_env(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("env", "Print the variables that point AWS clients at the server (with the secret key)");
  command->callback([&context] { context.action = [&context] { return run_env(context); }; });
}

}  // namespace teson::cli
