#include "cli/man_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command_tree.h"

namespace teson::cli {
namespace {

// Backslashes, hyphens that are to be typed, and what at a line's beginning would be a request.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c == '\n' ? ' ' : c;
    }
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string flag_text(const CommandFlag& flag) {
  std::string out;
  for (const std::string& spelling : flag.spellings) {
    out += fmt::format("{}\\fB{}\\fR", out.empty() ? "" : ", ", roff(spelling));
  }
  return flag.takes_value() ? fmt::format("{} \\fI{}\\fR", out, roff(flag.value)) : out;
}

std::string flags_text(const std::vector<CommandFlag>& flags) {
  std::string out;
  for (const CommandFlag& flag : flags) {
    const std::string usual = flag.usual.empty() ? "" : fmt::format(" (default: {})", roff(flag.usual));
    out += fmt::format(".TP\n{}\n{}{}\n", flag_text(flag), roff(flag.about), usual);
  }
  return out;
}

std::string words_text(const std::vector<CommandFlag>& words) {
  std::string out;
  for (const CommandFlag& word : words) {
    out += fmt::format(".TP\n\\fI{}\\fR\n{}\n", roff(word.spellings.front()), roff(word.about));
  }
  return out;
}

std::string command_text(const CommandTree& command, const std::string& before) {
  const std::string name = before + command.name;
  std::string line = fmt::format("teson {}", roff(name));
  if (!command.parts.empty()) line += " COMMAND";
  if (!command.flags.empty()) line += " [OPTION]...";
  for (const CommandFlag& word : command.words) line += " " + roff(word.spellings.front());
  std::string out = fmt::format(".SS {}\n{}.\n", line, roff(command.about));
  out += words_text(command.words) + flags_text(command.flags);
  for (const CommandTree& part : command.parts) out += command_text(part, name + " ");
  return out;
}

}  // namespace

std::string man_page(const CLI::App& app, const std::string& version) {
  std::string commands;
  for (const CommandTree& command : commands_of(app)) commands += command_text(command, "");
  return fmt::format(R"(.\" Made by "teson help --man".
.TH TESON 1 "" "teson {}" "User Commands"
.SH NAME
teson \- train machine\-learning models on one's own machines without losing work
.SH SYNOPSIS
.B teson
[\fIOPTION\fR]... \fICOMMAND\fR [\fIARGUMENT\fR]...
.SH DESCRIPTION
{}
It speaks the protocol of AWS Batch: queues, compute environments, retries, arrays, logs.
.SH OPTIONS
These may be given before or after the command.
{}.SH COMMANDS
{}.SH EXIT STATUS
0 for success; of commands that follow a job, the job's own exit code. 252: the command line is wrong.
253: no keys or no data directory. 254: the server refused. 255: anything else, or the server does not answer.
124: \fBwait \-\-timeout\fR is over. 130: interrupted.
.SH ENVIRONMENT
.TP
.B TESON_DATA, TESON_ENDPOINT, TESON_LISTEN, TESON_CONFIG
As \fB\-\-data\fR, \fB\-\-endpoint\fR, and \fBserve\fR's \fB\-\-listen\fR and \fB\-\-config\fR.
.TP
.B AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_DEFAULT_REGION
Keys and region, where \fB\-\-endpoint\fR names the server.
)",
                     roff(version), roff(app.get_description()), flags_text(flags_of(app)), commands);
}

}  // namespace teson::cli
