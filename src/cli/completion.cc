#include "cli/completion.h"

#include <fmt/format.h>

#include <vector>

#include "cli/text.h"

namespace teson::cli {
namespace {

struct Flag {
  std::vector<std::string> spellings;  // "-f", "--follow"
  std::string about;
  bool takes_value = false;
};

struct Command {
  std::string name;
  std::string about;
  std::vector<Flag> flags;
  std::vector<std::string> parts;  // "add", "list" of `user`
};

// Without those that --help hides (an empty group).
std::vector<Flag> flags_of(const CLI::App& app) {
  std::vector<Flag> flags;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty() || option->get_positional()) continue;
    Flag flag;
    for (const std::string& name : option->get_snames()) flag.spellings.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) flag.spellings.push_back("--" + name);
    flag.about = option->get_description();
    flag.takes_value = option->get_items_expected_max() > 0;
    flags.push_back(std::move(flag));
  }
  return flags;
}

std::vector<Command> commands_of(const CLI::App& app) {
  std::vector<Command> commands;
  const std::vector<Flag> global = flags_of(app);
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    Command command{sub->get_name(), sub->get_description(), flags_of(*sub), {}};
    for (const CLI::App* part : sub->get_subcommands([](const CLI::App*) { return true; })) {
      command.parts.push_back(part->get_name());
      for (const Flag& flag : flags_of(*part)) {
        if (flag.spellings.back() != "--help") command.flags.push_back(flag);
      }
    }
    for (const Flag& flag : global) {
      if (flag.spellings.back() != "--help") command.flags.push_back(flag);
    }
    commands.push_back(std::move(command));
  }
  return commands;
}

std::string words_of(const std::vector<Flag>& flags) {
  std::string words;
  for (const Flag& flag : flags) {
    for (const std::string& spelling : flag.spellings) words += (words.empty() ? "" : " ") + spelling;
  }
  return words;
}

std::string valued_pattern(const std::vector<Command>& commands) {
  std::string pattern;
  for (const Command& command : commands) {
    for (const Flag& flag : command.flags) {
      for (const std::string& spelling : flag.spellings) {
        if (flag.takes_value && ("|" + pattern + "|").find("|" + spelling + "|") == std::string::npos) {
          pattern += (pattern.empty() ? "" : "|") + spelling;
        }
      }
    }
  }
  return pattern;
}

// In a zsh specification the characters [ ] : are its own.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  const std::vector<Command> commands = commands_of(app);
  std::string names, cases;
  for (const Command& command : commands) {
    names += (names.empty() ? "" : " ") + command.name;
    std::string words = words_of(command.flags);
    if (command.name == "completion") words += " bash zsh";
    for (const std::string& part : command.parts) words += " " + part;
    cases += fmt::format("    {}) words={} ;;\n", command.name, shell_quoted(words));
  }
  return fmt::format(R"(# bash completion for teson; use:  source <(teson completion bash)
_teson() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command= words= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${{COMP_WORDS[i]}} in
      --) compopt -o default; return ;;
      {0}) ((i++)) ;;
      -*) ;;
      *) command=${{command:-${{COMP_WORDS[i]}}}} ;;
    esac
  done
  case $previous in
    --output) mapfile -t COMPREPLY < <(compgen -W 'json table' -- "$current"); return ;;
    {0}) compopt -o default; return ;;
  esac
  case $command in
    '') words={1} ;;
{2}  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -F _teson teson
)",
                     valued_pattern(commands), shell_quoted(names + " " + words_of(flags_of(app))), cases);
}

std::string zsh_completion(const CLI::App& app) {
  std::string names, cases;
  for (const Command& command : commands_of(app)) {
    names += fmt::format("    {}\n", shell_quoted(command.name + ":" + zsh_text(command.about)));
    std::string specs;
    for (const Flag& flag : command.flags) {
      for (const std::string& spelling : flag.spellings) {
        const std::string value = !flag.takes_value        ? ""
                                  : spelling == "--output" ? ":format:(json table)"
                                                           : ":value:_files";
        specs += fmt::format(" \\\n        {}",
                             shell_quoted(fmt::format("*{}[{}]{}", spelling, zsh_text(flag.about), value)));
      }
    }
    if (command.name == "completion") specs += " \\\n        '1:shell:(bash zsh)'";
    if (!command.parts.empty()) specs += fmt::format(" \\\n        '1:part:({})'", fmt::join(command.parts, " "));
    cases += fmt::format("      {}) _arguments{} \\\n        '*::argument:_default' ;;\n", command.name, specs);
  }
  return fmt::format(R"(#compdef teson
# zsh completion for teson; use:  source <(teson completion zsh)
_teson() {{
  local -a commands
  commands=(
{0}  )
  local context state line
  _arguments -C '1:command:->command' '*::argument:->argument'
  case $state in
    command) _describe command commands ;;
    argument)
      case $words[1] in
{1}      esac ;;
  esac
}}
if [ "$funcstack[1]" = _teson ]; then _teson "$@"; else compdef _teson teson; fi
)",
                     names, cases);
}

}  // namespace teson::cli
