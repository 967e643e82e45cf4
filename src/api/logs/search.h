// FilterLogEvents: the events of many streams in order of time, those that match a pattern, a page at a time.
//
// The order is (time, stream name, place), so a page ends at a plain point of it and no cursor per stream is kept.
// Streams are opened only when the search reaches their first possible event and are closed again between reads:
// memory is at most some 64 KiB (one event if longer) for each stream that was active at the same time.
//
// Limits per call: those of a page, and 32 MiB of log text looked at; then the page ends, perhaps empty, with a token.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/logs/filter_pattern.h"
#include "api/logs/log_group.h"
#include "api/logs/token.h"

namespace teson::logs {

struct SearchQuery {
  std::vector<StreamInfo> streams;
  int64_t from_millis = 0;                                     // inclusive
  int64_t until_millis = std::numeric_limits<int64_t>::max();  // inclusive, as FilterLogEvents has it
  FilterPattern pattern;
  std::optional<SearchToken> after;
  PageLimits limits;
  size_t scan_bytes = 32 * 1024 * 1024;
  // Streams that the group denies (log_group.h) have no events. Else the first of them ends the search.
  bool skip_denied = false;
};

struct FoundEvent {
  std::string stream;
  Event event;
};

struct SearchPage {
  std::vector<FoundEvent> events;
  std::optional<SearchToken> next;  // absent: nothing is left
};

Result<SearchPage> search(const LogGroup& group, SearchQuery query);

// Unique and stable for an event; sorts by time. 56 digits, as AWS's ids have.
std::string event_id(const std::string& stream, const Event& event);

}  // namespace teson::logs
