#include "cli/completion.h"

#include "cli/commands/commands.h"
#include "cli/output.h"

namespace teson::cli {

void add_completion(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("completion", "Print a completion script for a shell");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash or zsh")
      ->required()
      ->type_name("SHELL")
      ->check(CLI::IsMember({"bash", "zsh"}));
  command->callback([&app, &context, shell] {
    context.action = [&app, shell]() -> Outcome<int> {
      print(*shell == "bash" ? bash_completion(app) : zsh_completion(app));
      return 0;
    };
  });
}

}  // namespace teson::cli
