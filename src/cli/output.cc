#include "cli/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace teson::cli {

namespace {

size_t width_of(int fd) {
  winsize size{};
  if (isatty(fd) != 1 || ioctl(fd, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace

bool stdout_is_terminal() { return isatty(STDOUT_FILENO) == 1; }
size_t terminal_width() { return width_of(STDOUT_FILENO); }
bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }
size_t stderr_width() { return width_of(STDERR_FILENO); }

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void print_json(const Json& value) { print(json_text(value) + "\n"); }

void print_table(const Table& table) { print(table.render(terminal_width())); }

void note(std::string_view text) { print_aside("teson: " + std::string(text) + "\n"); }

void print_aside(std::string_view text) {
  std::fflush(stdout);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

bool flush_output() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

}  // namespace teson::cli
