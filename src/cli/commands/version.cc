#include "cli/commands/commands.h"
#include "cli/output.h"

namespace teson::cli {

void add_version(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("version", "Print the version of this program");
  command->callback([&context] {
    context.action = [&context]() -> Outcome<int> {
      if (context.json()) {
        print_json(Json::object({{"version", context.hooks.version}}));
      } else {
        print("teson " + context.hooks.version + "\n");
      }
      return 0;
    };
  });
}

}  // namespace teson::cli
