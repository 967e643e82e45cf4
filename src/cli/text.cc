#include "cli/text.h"

#include <fmt/format.h>

#include <cwchar>

namespace teson::cli {
namespace {

struct CodePoint {
  char32_t value = 0;
  size_t bytes = 0;  // 0: not UTF-8
};

CodePoint decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  char32_t value = lead & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3F);
  }
  static constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kSmallest[length] || value > 0x10FFFF || surrogate) return {};
  return {value, length};
}

// Controls, and the marks that reorder text (a name may not make a line read backwards).
bool moves_things(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

size_t width_of(char32_t c) {
  const int width = ::wcwidth(static_cast<wchar_t>(c));
  return width < 0 ? 1 : static_cast<size_t>(width);
}

bool shell_safe(std::string_view word) {
  static constexpr std::string_view kSafe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+";
  return !word.empty() && word.find_first_not_of(kSafe) == std::string_view::npos;
}

}  // namespace

std::string shell_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string shell_command(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += shell_safe(word) ? word : shell_quoted(word);
  }
  return line;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = decode(text);
    if (point.bytes == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
      text.remove_prefix(1);
      continue;
    }
    if (point.value == '\n') {
      out += "\\n";
    } else if (point.value == '\t') {
      out += "\\t";
    } else if (point.value == '\r') {
      out += "\\r";
    } else if (moves_things(point.value)) {
      out += point.value < 0x100 ? fmt::format("\\x{:02x}", static_cast<unsigned>(point.value))
                                 : fmt::format("\\u{:04x}", static_cast<unsigned>(point.value));
    } else {
      out += text.substr(0, point.bytes);
    }
    text.remove_prefix(point.bytes);
  }
  return out;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const CodePoint point = decode(text);
    if (point.bytes == 0) return false;
    text.remove_prefix(point.bytes);
  }
  return true;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const CodePoint point = decode(text);
    width += point.bytes == 0 ? 1 : width_of(point.value);
    text.remove_prefix(point.bytes == 0 ? 1 : point.bytes);
  }
  return width;
}

std::string cut_to_width(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  size_t used = 0, kept = 0;
  while (kept < text.size()) {
    const CodePoint point = decode(text.substr(kept));
    const size_t columns = point.bytes == 0 ? 1 : width_of(point.value);
    if (used + columns > width - 1) break;
    used += columns;
    kept += point.bytes == 0 ? 1 : point.bytes;
  }
  return std::string(text.substr(0, kept)) + "…";
}

}  // namespace teson::cli
