// Operations on events.
#include <fmt/format.h>

#include <set>

#include "api/logs/get_events.h"
#include "api/logs/put_batch.h"
#include "api/logs/search.h"
#include "api/logs/service.h"
#include "base/try.h"

namespace teson::logs {
namespace {

constexpr int64_t kMaxPage = 10'000;
constexpr size_t kMaxNames = 100;

Result<PageLimits> page_limits(const wire::JsonValue& body) {
  PageLimits limits;
  TESON_TRY(const auto count, wire::optional_int(body, "limit", {1, kMaxPage}));
  if (count) limits.events = static_cast<size_t>(*count);
  return limits;
}

Result<std::vector<StreamInfo>> streams_named(const LogGroup& group, const std::string& group_name,
                                              const std::vector<std::string>& names) {
  std::vector<StreamInfo> streams;
  // A name given twice is one stream.
  for (const std::string& name : std::set<std::string>(names.begin(), names.end())) {
    TESON_TRY(auto stream, group.find(name));
    if (!stream) return no_such_stream(group_name, name);
    streams.push_back(std::move(*stream));
  }
  return streams;
}

}  // namespace

Service::Answer Service::put_log_events(const wire::JsonValue& body) {
  TESON_TRY(const std::string group, required_group_name(body));
  TESON_TRY(const std::string stream, required_stream_name(body));
  TESON_TRY_STATUS(wire::optional_string(body, "sequenceToken"));
  TESON_TRY(auto events, batch_field(body));
  TESON_TRY_STATUS(expect_clients_group(group, "PutLogEvents"));
  TESON_TRY(const auto info, stored_.find_group(group));
  if (!info) return no_such_group(group);
  const Rejected rejected = reject_by_time(events, clock_.now(), info->retention_days);
  TESON_TRY_STATUS(stored_.append(group, stream, rejected.accepted(events)));

  wire::Json answer = {{"nextSequenceToken", kSequenceToken}};
  wire::Json why = wire::Json::object();
  if (rejected.too_old_end > 0) why["tooOldLogEventEndIndex"] = rejected.too_old_end;
  if (rejected.expired_end > 0) why["expiredLogEventEndIndex"] = rejected.expired_end;
  if (rejected.too_new_start < events.size()) why["tooNewLogEventStartIndex"] = rejected.too_new_start;
  if (!why.empty()) answer["rejectedLogEventsInfo"] = std::move(why);
  return answer;
}

Service::Answer Service::get_log_events(const wire::JsonValue& body) {
  TESON_TRY(const std::string group_name, group_name_or_identifier(body, settings_));
  TESON_TRY(const std::string stream_name, required_stream_name(body));
  GetQuery query;
  TESON_TRY(query.from_millis, wire::optional_int(body, "startTime", {.min = 0}));
  TESON_TRY(query.until_millis, wire::optional_int(body, "endTime", {.min = 0}));
  TESON_TRY(query.token, wire::optional_string(body, "nextToken"));
  TESON_TRY(const auto from_head, wire::optional_bool(body, "startFromHead"));
  query.from_head = from_head.value_or(false);
  TESON_TRY(query.limits, page_limits(body));

  TESON_TRY(const auto group, group_named(group_name));
  TESON_TRY(const auto stream, group->find(stream_name));
  if (!stream) return no_such_stream(group_name, stream_name);
  TESON_TRY(const auto source, group->open(*stream));
  TESON_TRY(auto page, get_events(*source, query, binding(group_name, stream_name)));

  wire::Json events = wire::Json::array();
  for (Event& event : page.events) {
    events.push_back(
        {{"timestamp", event.millis}, {"message", std::move(event.message)}, {"ingestionTime", event.ingested_millis}});
  }
  return wire::Json{{"events", std::move(events)},
                    {"nextForwardToken", page.forward_token},
                    {"nextBackwardToken", page.backward_token}};
}

Service::Answer Service::filter_log_events(const wire::JsonValue& body) {
  TESON_TRY(const std::string group_name, group_name_or_identifier(body, settings_));
  TESON_TRY(const auto names, stream_names(body, "logStreamNames", kMaxNames));
  TESON_TRY(const auto prefix, optional_stream_name(body, "logStreamNamePrefix"));
  if (!names.empty() && prefix)
    return invalid("logStreamNames and logStreamNamePrefix are both given: give one of them.");
  SearchQuery query;
  TESON_TRY(const auto from, wire::optional_int(body, "startTime", {.min = 0}));
  TESON_TRY(const auto until, wire::optional_int(body, "endTime", {.min = 0}));
  query.from_millis = from.value_or(query.from_millis);
  query.until_millis = until.value_or(query.until_millis);
  TESON_TRY(const auto pattern, wire::optional_string(body, "filterPattern", 1024));
  TESON_TRY(query.pattern, FilterPattern::parse(pattern.value_or("")));
  TESON_TRY(query.limits, page_limits(body));
  const std::string bound = binding(group_name, "search");
  TESON_TRY(const auto token, wire::optional_string(body, "nextToken"));
  if (token) {
    query.after = parse_search_token(*token, bound);
    if (!query.after) return invalid_token();
  }

  TESON_TRY(const auto group, group_named(group_name));
  TESON_TRY(query.streams,
            names.empty() ? all_streams(*group, prefix.value_or("")) : streams_named(*group, group_name, names));
  // Who names a stream is told why it cannot be read; a search of all is not stopped by one job's.
  query.skip_denied = names.empty();
  TESON_TRY(auto page, search(*group, std::move(query)));

  wire::Json events = wire::Json::array();
  for (FoundEvent& found : page.events) {
    const std::string id = event_id(found.stream, found.event);
    events.push_back({{"logStreamName", std::move(found.stream)},
                      {"timestamp", found.event.millis},
                      {"message", std::move(found.event.message)},
                      {"ingestionTime", found.event.ingested_millis},
                      {"eventId", id}});
  }
  wire::Json answer = {{"events", std::move(events)}, {"searchedLogStreams", wire::Json::array()}};
  if (page.next) answer["nextToken"] = search_token(*page.next, bound);
  return answer;
}

}  // namespace teson::logs
