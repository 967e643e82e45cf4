#include "base/process_stat.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <string>

#include "base/owned_fd.h"

namespace teson {
namespace {

constexpr int kState = 3;
constexpr int kParent = 4;
constexpr int kStartTicks = 22;

template <class Number>
bool read_number(std::string_view word, Number& number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size();
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  // The name in parentheses may hold anything, blanks, newlines and parentheses too: fields are counted after the last.
  const size_t name_end = text.rfind(") ");
  if (name_end == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(name_end + 2);
  ProcessStat stat;
  for (int field = kState; field <= kStartTicks; ++field) {
    const size_t end = rest.find(' ');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view word = rest.substr(0, end);
    if (field == kState && word.size() != 1) return std::nullopt;
    if (field == kState) stat.state = word[0];
    if (field == kParent && !read_number(word, stat.parent)) return std::nullopt;
    if (field == kStartTicks && !read_number(word, stat.start_ticks)) return std::nullopt;
    rest.remove_prefix(end + 1);
  }
  return stat;
}

std::optional<ProcessStat> read_process_stat(pid_t pid) {
  char text[4096];
  const OwnedFd file(::open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  const ssize_t length = ::read(file.get(), text, sizeof text);
  return length > 0 ? parse_process_stat({text, static_cast<size_t>(length)}) : std::nullopt;
}

}  // namespace teson
