#include "cli/fake_batch_testing.h"

#include <fmt/format.h>

#include <algorithm>

namespace teson::cli {

FakeBatch::FakeBatch(std::function<void(FakeBatch&, int)> on_describe)
    : detail(
          Json::object({{"jobId", kJob}, {"jobName", "digits"}, {"status", "RUNNABLE"}, {"attempts", Json::array()}})),
      on_describe_(std::move(on_describe)),
      server_([this](const StandInRequest& request) { return answer(request); }) {}

Json FakeBatch::detail_now() const {
  (void)server_.requests();  // what the server's thread has written is seen from here on
  return detail;
}

std::vector<Json> FakeBatch::requests_to(const std::string& path) const {
  std::vector<Json> bodies;
  for (const StandInRequest& request : server_.requests()) {
    if (request.path == path) bodies.push_back(Json::parse(request.body));
  }
  return bodies;
}

StandInAnswer FakeBatch::answer(const StandInRequest& request) {
  if (request.path == "/healthz") return {200, "{}", {}};
  if (hang_up > 0) {
    --hang_up;
    return {.hang_up = true};
  }
  const Json body = Json::parse(request.body);
  if (request.path == "/v1/describejobs") {
    on_describe_(*this, ++describes_);
    return described(body);
  }
  if (request.path == "/v1/listjobs" && body.contains("arrayJobId")) return children_listed(body);
  if (request.path == "/v1/submitjob")
    return {200, json_line(Json::object({{"jobName", "digits"}, {"jobId", kJob}})), {}};
  if (request.path == "/") return log_events(body);
  return {200, "{}", {}};
}

StandInAnswer FakeBatch::described(const Json& body) const {
  Json jobs = Json::array();
  for (const Json& id : array_field(body, "jobs")) {
    const std::string text = id.get<std::string>();
    const size_t colon = text.find(':');
    if (colon == std::string::npos) {
      jobs.push_back(detail);
    } else if (const auto child = children.find(std::stoi(text.substr(colon + 1))); child != children.end()) {
      jobs.push_back(child->second);
    }
  }
  return {200, json_line(Json::object({{"jobs", jobs}})), {}};
}

// A token is the index to go on from.
StandInAnswer FakeBatch::children_listed(const Json& body) const {
  const std::string token = text_field(body, "nextToken");
  const int64_t most = int_field(body, "maxResults").value_or(100);
  Json list = Json::array();
  Json answer = Json::object();
  for (auto at = children.lower_bound(token.empty() ? 0 : std::stoi(token)); at != children.end(); ++at) {
    if (text_field(at->second, "status") != text_field(body, "jobStatus")) continue;
    if (static_cast<int64_t>(list.size()) == most) {
      answer["nextToken"] = std::to_string(at->first);
      break;
    }
    list.push_back(Json::object(
        {{"jobId", text_field(at->second, "jobId")}, {"arrayProperties", field(at->second, "arrayProperties")}}));
  }
  answer["jobSummaryList"] = list;
  return {200, json_line(answer), {}};
}

// Tokens are "<direction>/<position>", with "+" for the empty page in between.
StandInAnswer FakeBatch::log_events(const Json& body) {
  if (const auto other = instead.find(text_field(body, "logStreamName")); other != instead.end()) return other->second;
  const auto stream = streams.find(text_field(body, "logStreamName"));
  if (stream == streams.end()) {
    return {
        400, R"({"__type": "ResourceNotFoundException", "message": "The specified log stream does not exist."})", {}};
  }
  const std::vector<std::string>& lines = stream->second;
  const size_t limit = std::min<size_t>(page, static_cast<size_t>(int_field(body, "limit").value_or(10'000)));
  const std::string token = text_field(body, "nextToken");
  const bool from_head = field(body, "startFromHead") == Json(true);
  const bool backward = token.starts_with("b/") || (token.empty() && !from_head);
  size_t at = token.empty() ? (from_head ? 0 : lines.size()) : std::stoul(token.substr(2));
  const bool give_empty = empty_pages && !token.empty() && !token.ends_with('+');

  size_t first = backward ? at - std::min(at, limit) : at;
  size_t last = backward ? at : std::min(lines.size(), at + limit);
  if (give_empty && first < last) first = last = at;
  Json events = Json::array();
  for (size_t i = first; i < last; ++i) {
    events.push_back(Json::object({{"timestamp", 1'000 + i}, {"message", lines[i]}, {"ingestionTime", 1'000 + i}}));
  }
  const char* mark = give_empty && at < lines.size() ? "+" : "";
  return {200,
          json_line(Json::object({{"events", events},
                                  {"nextForwardToken", fmt::format("f/{}{}", last, mark)},
                                  {"nextBackwardToken", fmt::format("b/{}", first)}})),
          {}};
}

}  // namespace teson::cli
