#include "api/logs/token.h"

#include <fmt/format.h>

#include <charconv>

#include "wire/digest.h"

namespace teson::logs {
namespace {

// Takes what stands before `separator`, and the separator.
std::optional<std::string_view> take(std::string_view& text, char separator) {
  const size_t at = text.find(separator);
  if (at == std::string_view::npos) return std::nullopt;
  const auto front = text.substr(0, at);
  text.remove_prefix(at + 1);
  return front;
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::string place(Position position) {
  if (position.millis == 0) return fmt::format("{}", position.index);
  return fmt::format("{}.{}", position.millis, position.index);
}

std::optional<Position> parse_place(std::string_view text) {
  Position position;
  if (const auto millis = take(text, '.')) {
    const auto value = number<int64_t>(*millis);
    if (!value || *value == 0) return std::nullopt;
    position.millis = *value;
  }
  const auto index = number<uint64_t>(text);
  if (!index) return std::nullopt;
  position.index = *index;
  return position;
}

}  // namespace

std::string binding(std::string_view group, std::string_view stream) {
  // Neither may contain the separator: groups by their pattern, streams by theirs.
  return wire::sha256_hex(fmt::format("{}:{}", group, stream)).substr(0, 16);
}

std::string page_token(const PageToken& token, std::string_view binding) {
  return fmt::format("{}/{}/{}", token.forward ? 'f' : 'b', place(token.position), binding);
}

std::optional<PageToken> parse_page_token(std::string_view text, std::string_view binding) {
  const auto direction = take(text, '/');
  const auto position = take(text, '/');
  if (!direction || !position || text != binding || (*direction != "f" && *direction != "b")) return std::nullopt;
  const auto parsed = parse_place(*position);
  if (!parsed) return std::nullopt;
  return PageToken{*direction == "f", *parsed};
}

std::string search_token(const SearchToken& token, std::string_view binding) {
  return fmt::format("s/{}/{}/{}/{}", binding, token.millis, place(token.end), token.stream);
}

std::optional<SearchToken> parse_search_token(std::string_view text, std::string_view binding) {
  const auto kind = take(text, '/');
  const auto bound = take(text, '/');
  const auto millis = take(text, '/');
  const auto end = take(text, '/');
  if (!end || *kind != "s" || *bound != binding) return std::nullopt;
  const auto time = number<int64_t>(*millis);
  const auto position = parse_place(*end);
  if (!time || !position) return std::nullopt;
  return SearchToken{*time, std::string(text), *position};
}

std::string list_token(const ListToken& token, std::string_view binding) {
  return fmt::format("l/{}/{}/{}", binding, token.millis, token.name);
}

std::optional<ListToken> parse_list_token(std::string_view text, std::string_view binding) {
  const auto kind = take(text, '/');
  const auto bound = take(text, '/');
  const auto millis = take(text, '/');
  if (!millis || *kind != "l" || *bound != binding || text.empty()) return std::nullopt;
  const auto time = number<int64_t>(*millis);
  if (!time) return std::nullopt;
  return ListToken{*time, std::string(text)};
}

}  // namespace teson::logs
