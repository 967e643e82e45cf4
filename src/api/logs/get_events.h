// GetLogEvents over any stream: which page, and the two tokens that lead on from it.
//
// Token rules [CloudWatch Logs API, GetLogEvents]: forward tokens go towards newer events. At the end of the stream a
// call with a token yields an empty page with that very token, until more is written. Thread: any; blocks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/logs/event_source.h"

namespace teson::logs {

struct GetQuery {
  std::optional<int64_t> from_millis;   // inclusive
  std::optional<int64_t> until_millis;  // exclusive, as GetLogEvents has it
  bool from_head = false;
  std::optional<std::string> token;
  PageLimits limits;
};

struct GetPage {
  std::vector<Event> events;
  std::string forward_token;
  std::string backward_token;
};

// `binding` ties the tokens to the stream. kInvalid: the token is not one of this stream.
Result<GetPage> get_events(EventSource& source, const GetQuery& query, const std::string& binding);

}  // namespace teson::logs
