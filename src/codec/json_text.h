// JSON written straight into a string: the encoder is on the way of every SubmitJob, a tree of nodes is too slow there.
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

namespace teson::codec {

// `text` in quotes, escaped; each byte that is not part of well-formed UTF-8 becomes U+FFFD.
void append_json_string(std::string& out, std::string_view text);

template <std::integral T>
void append_json_integer(std::string& out, T value) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}

}  // namespace teson::codec
