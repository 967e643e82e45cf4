// Page tokens and sizes. A token names the last entry that was given, so pages stay right while entries come and go.
// Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/batch/validate.h"

namespace teson::batch {

inline constexpr int kMaxPage = 100;

struct PageRequest {
  int limit = kMaxPage;
  std::optional<std::string> after;  // the key in the token
};

// "maxResults" (1 to 100) and "nextToken". `kind` is bound into the token: another operation's is refused.
Result<PageRequest> parse_page(const JsonValue& body, std::string_view kind);
// The key as a number, of a kind whose keys are numbers; nullopt on the first page.
Result<std::optional<uint64_t>> number_after(const PageRequest& page, uint64_t largest = UINT64_MAX);
std::optional<uint64_t> whole_number(std::string_view text);  // decimal digits and nothing else
std::string make_token(std::string_view kind, std::string_view key);

}  // namespace teson::batch
