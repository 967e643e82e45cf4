#include "api/logs/get_events.h"

#include <algorithm>

#include "api/logs/parameters.h"
#include "api/logs/token.h"
#include "base/try.h"

namespace teson::logs {

Result<GetPage> get_events(EventSource& source, const GetQuery& query, const std::string& binding) {
  TESON_TRY(Position until, source.end());
  if (query.until_millis) {
    TESON_TRY(const Position cut, source.first_at_or_after(*query.until_millis));
    until = std::min(until, cut);
  }
  Position from = kStreamBegin;
  if (query.from_millis) {
    TESON_TRY(from, source.first_at_or_after(*query.from_millis));
  }

  bool forward = query.from_head;
  if (query.token) {
    const auto token = parse_page_token(*query.token, binding);
    if (!token) return invalid_token();
    TESON_TRY(const bool is_place, source.is_place(token->position));
    if (!is_place) return invalid_token();
    forward = token->forward;
    if (forward)
      from = std::max(from, token->position);
    else
      until = std::min(until, token->position);
  }

  GetPage page;
  if (from < until) {
    TESON_TRY(page.events, forward ? source.first(from, until, query.limits) : source.last(from, until, query.limits));
  }
  // An empty page leaves the client where it was: at `from` going forward, at `until` going back.
  const Position here = forward ? from : std::max(kStreamBegin, until);
  const Position begin = page.events.empty() ? here : page.events.front().begin;
  const Position end = page.events.empty() ? here : page.events.back().end;
  page.forward_token = page_token({true, end}, binding);
  page.backward_token = page_token({false, begin}, binding);
  if (page.events.empty() && query.token) (forward ? page.forward_token : page.backward_token) = *query.token;
  return page;
}

}  // namespace teson::logs
