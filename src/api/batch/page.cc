#include "api/batch/page.h"

#include <fmt/format.h>

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

std::string make_token(std::string_view kind, std::string_view key) {
  return wire::base64(fmt::format("{}:{}", kind, key));
}

}  // namespace teson::batch
