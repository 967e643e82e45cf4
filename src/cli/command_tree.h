// The commands as they were declared, for what is made from them: the completions and the man page.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <string>
#include <vector>

namespace teson::cli {

struct CommandFlag {
  std::vector<std::string> spellings;  // "-f", "--follow"
  std::string about;
  std::string value;  // "DIR"; empty: it takes none
  std::string usual;  // its default, where it says one

  bool takes_value() const { return !value.empty(); }
};

struct CommandTree {
  std::string name;
  std::string about;
  std::vector<CommandFlag> flags;
  std::vector<CommandFlag> words;  // positional: `spellings` has the name alone
  std::vector<CommandTree> parts;  // "add", "list" of `user`
};

// Without those that --help hides.
std::vector<CommandFlag> flags_of(const CLI::App& app);
std::vector<CommandTree> commands_of(const CLI::App& app);

}  // namespace teson::cli
