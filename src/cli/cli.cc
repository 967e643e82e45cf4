#include "cli/cli.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstring>
#include <exception>
#include <optional>

#include "cli/commands/commands.h"
#include "cli/interrupt.h"
#include "cli/output.h"

namespace teson::cli {
namespace {

void declare_global_options(CLI::App& app, GlobalOptions& global) {
  app.add_option("--data", global.data, "Data directory (default: $TESON_DATA, else ~/.local/share/teson)")
      ->type_name("DIR");
  app.add_option("--endpoint", global.endpoint,
                 "Server, when not the data directory's; keys from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
      ->envname("TESON_ENDPOINT")
      ->type_name("URL");
  app.add_option("--output", global.output, "json, or table for people (the default)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"json", "table"}));
  app.add_option("--region", global.region, "Region to sign for (default: the server's)")->type_name("REGION");
}

void declare_commands(CLI::App& app, Context& context) {
  declare_global_options(app, context.global);
  // In the order of --help: the first steps first.
  add_run(app, context);
  add_jobs(app, context);
  add_show(app, context);
  add_top(app, context);
  add_explain(app, context);
  add_logs(app, context);
  add_wait(app, context);
  add_history(app, context);
  add_stop(app, context);
  add_rerun(app, context);
  add_throttle(app, context);
  add_apply(app, context);
  add_interrupt(app, context);
  add_serve(app, context);
  add_env(app, context);
  add_user(app, context);
  add_doctor(app, context);
  add_version(app, context);
  add_completion(app, context);
  add_help(app, context);
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    command->fallthrough();
    command->footer("--data, --endpoint, --output and --region (see teson --help) may be given here too.");
  }
  app.require_subcommand(1);
  app.set_version_flag("--version", "teson " + context.hooks.version);
}

int usage_error(const std::string& message, const std::string& command) {
  note(message);
  note(fmt::format("see 'teson {}--help'", command.empty() ? "" : command + " "));
  return exit_code(FailureKind::kUsage);
}

std::string chosen_command(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? std::string() : chosen.front()->get_name();
}

std::string unknown_command(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return fmt::format("there is no command '{}'; the commands are {}", word, fmt::join(names, ", "));
}

// Exit code, or nothing when there is an action to carry out.
std::optional<int> parse(CLI::App& app, Context& context, std::vector<std::string> words) {
  if (words.empty()) {
    print(app.help());
    return exit_code(FailureKind::kUsage);
  }
  try {
    std::reverse(words.begin(), words.end());  // CLI11 takes the last word first
    app.parse(words);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    print(chosen.empty() ? app.help() : chosen.front()->help("teson"));
    return 0;
  } catch (const CLI::CallForVersion& version) {
    print(std::string(version.what()) + "\n");
    return 0;
  } catch (const CLI::ExtrasError& error) {
    const bool run = chosen_command(app) == "run" && !context.has_dashes;
    return usage_error(run ? "run: the command comes after '--': teson run -- python3 train.py" : error.what(),
                       chosen_command(app));
  } catch (const CLI::ParseError& error) {
    const auto strays = app.remaining();
    if (chosen_command(app).empty() && !strays.empty()) return usage_error(unknown_command(app, strays.front()), "");
    return usage_error(error.what(), chosen_command(app));
  }
  if (context.has_dashes && chosen_command(app) != "run") {
    return usage_error(fmt::format("{}: takes no command after '--'", chosen_command(app)), chosen_command(app));
  }
  return std::nullopt;
}

int perform(const Context& context) {
  const Outcome<int> outcome = context.action();
  const bool written = flush_output();
  if (!outcome) {
    note(outcome.error().message);
    return exit_code(outcome.error().kind);
  }
  if (!written) {
    note("the output could not be written: " + std::string(std::strerror(errno)));
    return exit_code(FailureKind::kGeneral);
  }
  return *outcome;
}

}  // namespace

int cli_main(int argc, char** argv, const Hooks& hooks) {
  std::setlocale(LC_CTYPE, "");
  Context context{.hooks = hooks, .global = {}, .after_dashes = {}, .has_dashes = false, .action = {}};
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (const auto dashes = std::find(words.begin(), words.end(), "--"); dashes != words.end()) {
    context.has_dashes = true;
    context.after_dashes.assign(dashes + 1, words.end());
    words.erase(dashes, words.end());
  }
  // The libraries' exceptions end here.
  try {
    CLI::App app("Tesón trains machine-learning models at the lowest cost without ever losing work.", "teson");
    declare_commands(app, context);
    if (const auto code = parse(app, context, std::move(words))) {
      flush_output();
      return *code;
    }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    const int code = perform(context);
    curl_global_cleanup();
    return code;
  } catch (const std::exception& error) {
    note(error.what());
    return exit_code(FailureKind::kGeneral);
  }
}

}  // namespace teson::cli
