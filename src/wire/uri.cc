#include "wire/uri.h"

#include <fmt/format.h>

namespace teson::wire {
namespace {

constexpr char kHexUpper[] = "0123456789ABCDEF";

bool is_unreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Result<std::string> decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
      continue;
    }
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
    if (high < 0 || low < 0) {
      return invalid(
          fmt::format("'%' at position {} is not followed by two hexadecimal digits; write %25 for a percent sign", i));
    }
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

}  // namespace

std::string percent_encode(std::string_view text, bool keep_slash) {
  std::string out;
  out.reserve(text.size() + 8);
  for (const char c : text) {
    if (is_unreserved(c) || (keep_slash && c == '/')) {
      out += c;
    } else {
      out += '%';
      out += kHexUpper[static_cast<uint8_t>(c) >> 4];
      out += kHexUpper[static_cast<uint8_t>(c) & 15];
    }
  }
  return out;
}

Result<std::string> percent_decode(std::string_view text) { return decode(text, false); }

Result<std::vector<QueryParameter>> parse_query(std::string_view query) {
  std::vector<QueryParameter> out;
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string_view piece = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (piece.empty()) continue;
    const size_t equals = std::min(piece.find('='), piece.size());
    Result<std::string> name = decode(piece.substr(0, equals), true);
    if (!name) return std::unexpected(name.error());
    Result<std::string> value = decode(piece.substr(std::min(equals + 1, piece.size())), true);
    if (!value) return std::unexpected(value.error());
    out.push_back({std::move(*name), std::move(*value)});
  }
  return out;
}

std::string normalize_path(std::string_view path) {
  std::vector<std::string_view> segments;
  bool ends_with_slash = true;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    const std::string_view segment = path.substr(0, end);
    ends_with_slash = end < path.size() || segment == "." || segment == "..";
    path.remove_prefix(std::min(end + 1, path.size()));
    if (segment.empty() || segment == ".") continue;
    if (segment != "..") {
      segments.push_back(segment);
    } else if (!segments.empty()) {
      segments.pop_back();
    }
  }
  std::string out = "/";
  for (size_t i = 0; i < segments.size(); ++i) {
    out += segments[i];
    if (i + 1 < segments.size() || ends_with_slash) out += '/';
  }
  return out;
}

}  // namespace teson::wire
