#include "cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "cli/command_tree.h"
#include "cli/text.h"

namespace teson::cli {
namespace {

// Its parts' and the global ones too, which may be given after a command.
std::vector<CommandFlag> all_flags(const CommandTree& command, const CLI::App& app) {
  std::vector<CommandFlag> flags = command.flags;
  const auto add = [&](const std::vector<CommandFlag>& more) {
    for (const CommandFlag& flag : more) {
      if (flag.spellings.back() != "--help") flags.push_back(flag);
    }
  };
  for (const CommandTree& part : command.parts) add(part.flags);
  add(flags_of(app));
  return flags;
}

std::vector<std::string> names_of(const std::vector<CommandTree>& commands) {
  std::vector<std::string> names;
  for (const CommandTree& command : commands) names.push_back(command.name);
  return names;
}

std::string words_of(const std::vector<CommandFlag>& flags) {
  std::string words;
  for (const CommandFlag& flag : flags) {
    for (const std::string& spelling : flag.spellings) words += (words.empty() ? "" : " ") + spelling;
  }
  return words;
}

std::string valued_pattern(const std::vector<CommandTree>& commands, const CLI::App& app) {
  std::string pattern;
  for (const CommandTree& command : commands) {
    for (const CommandFlag& flag : all_flags(command, app)) {
      for (const std::string& spelling : flag.spellings) {
        if (flag.takes_value() && ("|" + pattern + "|").find("|" + spelling + "|") == std::string::npos) {
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
  const std::vector<CommandTree> commands = commands_of(app);
  std::string names, cases;
  for (const CommandTree& command : commands) {
    names += (names.empty() ? "" : " ") + command.name;
    std::string words = words_of(all_flags(command, app));
    if (command.name == "completion") words += " bash zsh";
    if (command.name == "help") words += " " + fmt::format("{}", fmt::join(names_of(commands), " "));
    for (const CommandTree& part : command.parts) words += " " + part.name;
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
                     valued_pattern(commands, app), shell_quoted(names + " " + words_of(flags_of(app))), cases);
}

std::string zsh_completion(const CLI::App& app) {
  const std::vector<CommandTree> commands = commands_of(app);
  std::string names, cases;
  for (const CommandTree& command : commands) {
    names += fmt::format("    {}\n", shell_quoted(command.name + ":" + zsh_text(command.about)));
    std::string specs;
    for (const CommandFlag& flag : all_flags(command, app)) {
      for (const std::string& spelling : flag.spellings) {
        const std::string value = !flag.takes_value()      ? ""
                                  : spelling == "--output" ? ":format:(json table)"
                                                           : ":value:_files";
        specs += fmt::format(" \\\n        {}",
                             shell_quoted(fmt::format("*{}[{}]{}", spelling, zsh_text(flag.about), value)));
      }
    }
    if (command.name == "completion") specs += " \\\n        '1:shell:(bash zsh)'";
    const auto choice = command.name == "help" ? names_of(commands) : names_of(command.parts);
    if (!choice.empty()) specs += fmt::format(" \\\n        '1:part:({})'", fmt::join(choice, " "));
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
