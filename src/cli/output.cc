#include "cli/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace teson::cli {

bool stdout_is_terminal() { return isatty(STDOUT_FILENO) == 1; }

size_t terminal_width() {
  winsize size{};
  if (!stdout_is_terminal() || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void print_json(const Json& value) { print(json_text(value) + "\n"); }

void print_table(const Table& table) { print(table.render(terminal_width())); }

void note(std::string_view text) {
  std::fflush(stdout);
  const std::string line = "teson: " + std::string(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

bool flush_output() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

}  // namespace teson::cli
