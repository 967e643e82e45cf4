// nextToken values: text that says where to go on, checked when it comes back. They hold no secret and no session: any
// server on the same data understands them. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/logs/event_source.h"

namespace teson::logs {

// 16 hex digits that bind a token to what it was given out for.
std::string binding(std::string_view group, std::string_view stream);

// GetLogEvents: "f/<place>/<binding>" or "b/<place>/<binding>", a place being "<index>" or "<millis>.<index>".
struct PageToken {
  bool forward = true;
  Position position;
  bool operator==(const PageToken&) const = default;
};
std::string page_token(const PageToken& token, std::string_view binding);
// nullopt: malformed, or given out for another stream.
std::optional<PageToken> parse_page_token(std::string_view text, std::string_view binding);

// FilterLogEvents: right after which event the search goes on, in order of (time, stream, place).
struct SearchToken {
  int64_t millis = 0;
  std::string stream;  // empty: before all events of that time
  Position end;        // of that event
  bool operator==(const SearchToken&) const = default;
};
std::string search_token(const SearchToken& token, std::string_view binding);
std::optional<SearchToken> parse_search_token(std::string_view text, std::string_view binding);

// Lists: after which entry the list goes on. `millis` counts in lists by time only.
struct ListToken {
  int64_t millis = 0;
  std::string name;
  bool operator==(const ListToken&) const = default;
};
std::string list_token(const ListToken& token, std::string_view binding);
std::optional<ListToken> parse_list_token(std::string_view text, std::string_view binding);

}  // namespace teson::logs
