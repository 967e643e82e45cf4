#include "api/batch/page.h"

#include <fmt/format.h>

#include <charconv>

#include "base/try.h"
#include "wire/bytes.h"

namespace teson::batch {

Result<PageRequest> parse_page(const JsonValue& body, std::string_view kind) {
  PageRequest out;
  TESON_TRY(const auto limit, wire::optional_int(body, "maxResults", {1, kMaxPage}));
  out.limit = static_cast<int>(limit.value_or(kMaxPage));
  TESON_TRY(const auto token, wire::optional_string(body, "nextToken"));
  if (!token || token->empty()) return out;
  const auto text = wire::from_base64(*token);
  const std::string prefix = std::string(kind) + ":";
  if (!text || !text->starts_with(prefix)) {
    return invalid(
        fmt::format("'nextToken' is {}: it must be what the same operation returned before", in_quotes(*token)));
  }
  out.after = text->substr(prefix.size());
  return out;
}

std::optional<uint64_t> whole_number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<std::optional<uint64_t>> number_after(const PageRequest& page, uint64_t largest) {
  if (!page.after) return std::optional<uint64_t>();
  const auto number = whole_number(*page.after);
  if (!number || *number > largest) {
    return invalid("'nextToken' is damaged: it must be what the same operation returned before");
  }
  return number;
}

std::string make_token(std::string_view kind, std::string_view key) {
  return wire::base64(fmt::format("{}:{}", kind, key));
}

}  // namespace teson::batch
