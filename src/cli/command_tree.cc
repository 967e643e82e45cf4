#include "cli/command_tree.h"

namespace teson::cli {
namespace {

CommandFlag flag_of(const CLI::Option& option) {
  CommandFlag flag;
  for (const std::string& name : option.get_snames()) flag.spellings.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) flag.spellings.push_back("--" + name);
  flag.about = option.get_description();
  if (option.get_items_expected_max() > 0) {
    flag.value = option.get_type_name().substr(0, option.get_type_name().find(':'));  // a check adds its own words
    flag.usual = option.get_default_str();
    if (flag.value.empty()) flag.value = "VALUE";
  }
  return flag;
}

}  // namespace

std::vector<CommandFlag> flags_of(const CLI::App& app) {
  std::vector<CommandFlag> flags;
  for (const CLI::Option* option : app.get_options()) {
    // An empty group is hidden.
    if (!option->get_group().empty() && !option->get_positional()) flags.push_back(flag_of(*option));
  }
  return flags;
}

std::vector<CommandTree> commands_of(const CLI::App& app) {
  std::vector<CommandTree> commands;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    CommandTree command{sub->get_name(), sub->get_description(), flags_of(*sub), {}, commands_of(*sub)};
    for (const CLI::Option* option : sub->get_options()) {
      if (!option->get_positional()) continue;
      command.words.push_back(flag_of(*option));
      command.words.back().spellings = {option->get_name()};
    }
    commands.push_back(std::move(command));
  }
  return commands;
}

}  // namespace teson::cli
