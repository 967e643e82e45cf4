// Operations on streams.
#include <algorithm>
#include <tuple>

#include "api/logs/service.h"
#include "api/logs/token.h"
#include "base/try.h"

namespace teson::logs {
namespace {

constexpr int kMaxListed = 50;

struct Listed {
  StreamInfo stream;
  int64_t key_millis = 0;  // the last event's time, in lists by time
};

// Cuts `streams`, which are in ascending order, to the page after `token`, in the direction asked for. True: more
// follow.
bool cut_page(std::vector<Listed>& streams, bool descending, const std::optional<ListToken>& token, size_t count) {
  if (descending) std::ranges::reverse(streams);
  if (token) {
    const auto goes_on_at = std::ranges::find_if(streams, [&](const Listed& listed) {
      const auto here = std::tie(listed.key_millis, listed.stream.name);
      const auto there = std::tie(token->millis, token->name);
      return descending ? here < there : here > there;
    });
    streams.erase(streams.begin(), goes_on_at);
  }
  const bool more = streams.size() > count;
  if (more) streams.resize(count);
  return more;
}

// What a list by time, or one from the end, has to go through: every stream of the group.
Result<std::vector<Listed>> list_all(const LogGroup& group, const std::string& prefix, bool by_time) {
  TESON_TRY(auto streams, all_streams(group, prefix));
  std::vector<Listed> listed;
  listed.reserve(streams.size());
  for (StreamInfo& stream : streams) {
    int64_t millis = 0;
    if (by_time) {
      TESON_TRY(const StreamTimes times, group.times(stream));
      millis = times.last_millis.value_or(0);
    }
    listed.push_back({std::move(stream), millis});
  }
  std::ranges::sort(listed, [](const Listed& a, const Listed& b) {
    return std::tie(a.key_millis, a.stream.name) < std::tie(b.key_millis, b.stream.name);
  });
  return listed;
}

}  // namespace

Service::Answer Service::create_log_stream(const wire::JsonValue& body) {
  TESON_TRY(const std::string group, required_group_name(body));
  TESON_TRY(const std::string name, required_stream_name(body));
  TESON_TRY_STATUS(expect_clients_group(group, "CreateLogStream"));
  TESON_TRY_STATUS(stored_.create_stream(group, name));
  return wire::Json::object();
}

Service::Answer Service::delete_log_stream(const wire::JsonValue& body) {
  TESON_TRY(const std::string group, required_group_name(body));
  TESON_TRY(const std::string name, required_stream_name(body));
  TESON_TRY_STATUS(expect_clients_group(group, "DeleteLogStream"));
  TESON_TRY_STATUS(stored_.delete_stream(group, name));
  return wire::Json::object();
}

Result<wire::Json> Service::stream_json(const LogGroup& group, const std::string& group_name,
                                        const StreamInfo& stream) const {
  TESON_TRY(const StreamTimes times, group.times(stream));
  wire::Json json = {{"logStreamName", stream.name},
                     {"creationTime", stream.created_millis},
                     {"arn", stream_arn(settings_, group_name, stream.name)},
                     // Always zero for streams on AWS, since 2019.
                     {"storedBytes", 0}};
  if (times.first_millis) json["firstEventTimestamp"] = *times.first_millis;
  if (times.last_millis) json["lastEventTimestamp"] = *times.last_millis;
  if (times.last_ingested_millis) json["lastIngestionTime"] = *times.last_ingested_millis;
  if (!stream.attempt) json["uploadSequenceToken"] = kSequenceToken;
  return json;
}

Service::Answer Service::describe_log_streams(const wire::JsonValue& body) {
  TESON_TRY(const std::string name, group_name_or_identifier(body, settings_));
  TESON_TRY(const auto prefix, optional_stream_name(body, "logStreamNamePrefix"));
  TESON_TRY(const auto order, wire::optional_enum(body, "orderBy", {"LogStreamName", "LastEventTime"}));
  TESON_TRY(const auto reversed, wire::optional_bool(body, "descending"));
  TESON_TRY(const auto limit, wire::optional_int(body, "limit", {1, kMaxListed}));
  TESON_TRY(const auto text, wire::optional_string(body, "nextToken"));
  const bool by_time = order == "LastEventTime";
  const bool descending = reversed.value_or(false);
  const auto count = static_cast<size_t>(limit.value_or(kMaxListed));
  if (by_time && prefix) return invalid("Cannot order by LastEventTime with a logStreamNamePrefix.");

  const std::string bound = binding(name, by_time ? "time" : prefix.value_or("") + ":name");
  std::optional<ListToken> token;
  if (text) {
    token = parse_list_token(*text, bound);
    if (!token) return invalid_token();
  }
  TESON_TRY(const auto group, group_named(name));
  std::vector<Listed> listed;
  if (by_time || descending) {
    TESON_TRY(listed, list_all(*group, prefix.value_or(""), by_time));
  } else {
    TESON_TRY(auto page, group->list(prefix.value_or(""), token ? token->name : "", static_cast<int>(count) + 1));
    for (StreamInfo& stream : page) listed.push_back({std::move(stream), 0});
  }
  const bool more = cut_page(listed, descending, token, count);

  wire::Json answer = {{"logStreams", wire::Json::array()}};
  for (const Listed& entry : listed) {
    TESON_TRY(auto json, stream_json(*group, name, entry.stream));
    answer["logStreams"].push_back(std::move(json));
  }
  if (more) answer["nextToken"] = list_token({listed.back().key_millis, listed.back().stream.name}, bound);
  return answer;
}

}  // namespace teson::logs
