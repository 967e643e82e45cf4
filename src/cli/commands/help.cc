#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/man_page.h"
#include "cli/output.h"
#include "cli/text.h"

namespace teson::cli {

void add_help(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("help", "Print the help of a command, or the manual page of all of them");
  auto name = std::make_shared<std::string>();
  auto man = std::make_shared<bool>(false);
  command->add_option("command", *name, "A command; without one, the list of them")->type_name("COMMAND");
  command->add_flag("--man", *man, "teson(1) in the form that man(1) reads: teson help --man | man -l -");
  command->callback([&app, &context, name, man] {
    context.action = [&app, &context, name, man]() -> Outcome<int> {
      if (*man) {
        if (!name->empty()) return usage("help: --man is the page of all commands: leave the command out");
        print(man_page(app, context.hooks.version));
        return 0;
      }
      const CLI::App* about = name->empty() ? &app : nullptr;
      for (const CLI::App* known : app.get_subcommands([](const CLI::App*) { return true; })) {
        if (known->get_name() == *name) about = known;
      }
      if (about == nullptr) return usage(fmt::format("there is no command '{}'; see 'teson help'", printable(*name)));
      // App::help would print that of the command that was given, which is this one.
      print(about == &app ? app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal)
                          : about->help("teson"));
      return 0;
    };
  });
}

}  // namespace teson::cli
