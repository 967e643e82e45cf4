#include <fmt/format.h>

#include <algorithm>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/output.h"
#include "cli/text.h"
#include "cli/units.h"
#include "domain/user.h"
#include "wire/credentials.h"

namespace teson::cli {
namespace {

struct Options {
  std::string name;
  std::string role = "user";
  std::string account;
  bool no_account = false;
};

Outcome<Json> ask(const Context& context, const char* operation, const Json& request) {
  auto session = open_session(context.global);
  if (!session) return std::unexpected(session.error());
  return Client(*std::move(session)).users(operation, request);
}

// The secret is shown here and nowhere ever again: as what clients read.
Outcome<int> show_new_key(const Context& context, const std::string& name, const Json& answer) {
  const auto session = open_session(context.global);
  if (!session) return std::unexpected(session.error());
  const std::string id = text_field(answer, "accessKeyId"), secret = text_field(answer, "secretAccessKey");
  if (context.json()) {
    Json out = answer;
    out["endpoint"] = session->endpoint;
    out["region"] = session->region;
    print_json(out);
    return 0;
  }
  const auto profile = wire::render_credentials({{name, id, secret, ""}});
  if (!profile) return failure(FailureKind::kGeneral, profile.error().message);
  print(
      fmt::format("# {}'s key. The secret is shown this once: give it to {} by a way that nobody else reads.\n"
                  "# For ~/.aws/credentials:\n{}\n# Or for a shell:\n",
                  name, name, *profile));
  const std::pair<const char*, std::string> variables[] = {{"TESON_ENDPOINT", session->endpoint},
                                                           {"AWS_ENDPOINT_URL", session->endpoint},
                                                           {"AWS_ACCESS_KEY_ID", id},
                                                           {"AWS_SECRET_ACCESS_KEY", secret},
                                                           {"AWS_DEFAULT_REGION", session->region}};
  for (const auto& [variable, value] : variables) print(fmt::format("export {}={}\n", variable, shell_quoted(value)));
  return 0;
}

Outcome<int> run_add(const Context& context, const Options& options) {
  Json request = Json::object({{"name", options.name}, {"role", options.role}});
  if (!options.account.empty()) request["account"] = options.account;
  const auto answer = ask(context, "add", request);
  if (!answer) return std::unexpected(answer.error());
  return show_new_key(context, options.name, *answer);
}

Outcome<int> run_rotate(const Context& context, const Options& options) {
  const auto answer = ask(context, "rotate", Json::object({{"name", options.name}}));
  if (!answer) return std::unexpected(answer.error());
  note(fmt::format("{}'s former keys are refused from now on", options.name));
  return show_new_key(context, options.name, *answer);
}

std::string keys_text(const Json& user) {
  std::string text;
  for (const Json& key : array_field(user, "keys")) text += (text.empty() ? "" : " ") + text_field(key, "accessKeyId");
  return text.empty() ? "revoked" : text;
}

Outcome<int> run_list(const Context& context) {
  const auto answer = ask(context, "list", Json::object());
  if (!answer) return std::unexpected(answer.error());
  if (context.json()) {
    print_json(*answer);
    return 0;
  }
  Table table({{"NAME"}, {"ROLE"}, {"ACCOUNT"}, {"CREATED"}, {"KEYS"}});
  for (const Json& user : array_field(*answer, "users")) {
    const Instant created = Instant::from_millis(int_field(user, "createdAt").value_or(0));
    const std::string account = text_field(user, "account");
    table.add({text_field(user, "name"), text_field(user, "role"), account.empty() ? "-" : account, time_text(created),
               keys_text(user)});
  }
  print_table(table);
  return 0;
}

Outcome<int> show_user(const Context& context, const Outcome<Json>& answer, std::string_view what) {
  if (!answer) return std::unexpected(answer.error());
  if (context.json()) {
    print_json(*answer);
    return 0;
  }
  const Json& user = field(*answer, "user");
  print(fmt::format("{}: {}, {}\n", printable(text_field(user, "name")), text_field(user, "role"),
                    what.empty() ? "keys: " + keys_text(user) : std::string(what)));
  return 0;
}

Outcome<int> run_revoke(const Context& context, const Options& options) {
  const auto answer = ask(context, "revoke", Json::object({{"user", options.name}}));
  const bool none_left = answer && array_field(field(*answer, "user"), "keys").empty();
  return show_user(context, answer, none_left ? "no key left: every request is refused from now on" : "");
}

Outcome<int> run_role(const Context& context, const Options& options) {
  return show_user(context, ask(context, "role", Json::object({{"name", options.name}, {"role", options.role}})), "");
}

Outcome<int> run_account(const Context& context, const Options& options) {
  if (options.account.empty() != options.no_account) return usage("user account: give either ACCOUNT or --none");
  Json request = Json::object({{"name", options.name}});
  if (!options.no_account) request["account"] = options.account;
  return show_user(context, ask(context, "account", request),
                   options.no_account ? "no Unix account" : "jobs run as the Unix account " + options.account);
}

Outcome<int> run_whoami(const Context& context) {
  const auto answer = ask(context, "whoami", Json::object());
  if (!answer) return std::unexpected(answer.error());
  if (context.json()) {
    print_json(*answer);
    return 0;
  }
  const Json& user = field(*answer, "user");
  print(fmt::format("{} ({})\n", printable(text_field(user, "name")), text_field(user, "role")));
  return 0;
}

// A part of `teson user`: its options, and what it does with them.
template <class Run>
CLI::App* add_part(CLI::App& user, Context& context, const std::shared_ptr<Options>& options, const char* name,
                   const char* about, Run run) {
  CLI::App* part = user.add_subcommand(name, about);
  part->fallthrough();
  part->callback(
      [&context, options, run] { context.action = [&context, options, run] { return run(context, *options); }; });
  return part;
}

}  // namespace

void add_user(CLI::App& app, Context& context) {
  CLI::App* user = app.add_subcommand("user", "Users and their keys: add, list, revoke, role, account, rotate, whoami");
  user->require_subcommand(1);
  auto options = std::make_shared<Options>();
  const auto role = CLI::IsMember({"admin", "user", "read-only"});
  const auto part = [&](const char* name, const char* about, auto run) {
    return add_part(*user, context, options, name, about, run);
  };
  CLI::App* add = part("add", "Make a user, and print their key: the only time that its secret is shown", run_add);
  add->add_option("name", options->name, "1 to 64 letters, digits, '.', '_' and '-'")->required()->type_name("NAME");
  add->add_option("--role", options->role, "admin, user or read-only")
      ->type_name("ROLE")
      ->check(role)
      ->capture_default_str();
  add->add_option("--account", options->account, "The Unix account that the user's jobs run as")->type_name("ACCOUNT");
  part("list", "List users, their roles and the ids of their keys",
       [](const Context& c, const Options&) { return run_list(c); });
  part("revoke", "Refuse a user's keys, or one key, from now on", run_revoke)
      ->add_option("who", options->name, "A user's name, or the id of one key")
      ->required()
      ->type_name("NAME|KEY");
  CLI::App* change = part("role", "Give a user another role", run_role);
  change->add_option("name", options->name, "The user")->required()->type_name("NAME");
  change->add_option("role", options->role, "admin, user or read-only")->required()->type_name("ROLE")->check(role);
  CLI::App* account = part("account", "Say as which Unix account a user's jobs run", run_account);
  account->add_option("name", options->name, "The user")->required()->type_name("NAME");
  account->add_option("account", options->account, "An account of the machine that the server runs on")
      ->type_name("ACCOUNT");
  account->add_flag("--none", options->no_account, "No account any more");
  part("rotate", "Make a new key in the place of all old ones, and print it", run_rotate)
      ->add_option("name", options->name, "The user")
      ->required()
      ->type_name("NAME");
  part("whoami", "Say as whom the server knows these keys",
       [](const Context& c, const Options&) { return run_whoami(c); });
}

}  // namespace teson::cli
