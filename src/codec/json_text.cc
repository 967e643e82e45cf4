#include "codec/json_text.h"

#include <array>
#include <cstdint>

namespace teson::codec {
namespace {

enum class ByteClass : uint8_t { kPlain, kEscape, kMultibyte };

constexpr std::array<ByteClass, 256> kClasses = [] {
  std::array<ByteClass, 256> classes{};
  for (int c = 0; c < 256; ++c) {
    if (c >= 0x80) classes[c] = ByteClass::kMultibyte;
    if (c < 0x20 || c == '"' || c == '\\' || c == 0x7F) classes[c] = ByteClass::kEscape;
  }
  return classes;
}();

ByteClass class_of(char c) { return kClasses[static_cast<unsigned char>(c)]; }

void append_escape(std::string& out, char c) {
  constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[c & 15];
  }
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Length of the well-formed sequence that `text` begins with; 0 if there is none (Unicode 15, table 3-7).
size_t sequence_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const auto second = text.size() > 1 ? static_cast<unsigned char>(text[1]) : 0u;
  size_t length = 0;
  unsigned low = 0x80;
  unsigned high = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
  }
  if (length == 0 || text.size() < length || second < low || second > high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if (!is_continuation(text[i])) return 0;
  }
  return length;
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  size_t start = 0;
  size_t at = 0;
  while (at < text.size()) {
    const ByteClass kind = class_of(text[at]);
    if (kind == ByteClass::kPlain) {
      ++at;
      continue;
    }
    if (kind == ByteClass::kMultibyte) {
      if (const size_t length = sequence_length(text.substr(at)); length > 0) {
        at += length;
        continue;
      }
    }
    out.append(text, start, at - start);
    if (kind == ByteClass::kMultibyte) {
      out += "\xEF\xBF\xBD";
    } else {
      append_escape(out, text[at]);
    }
    start = ++at;
  }
  out.append(text, start, at - start);
  out += '"';
}

}  // namespace teson::codec
