// Operations on groups and their retention.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/logs/service.h"
#include "api/logs/token.h"
#include "base/try.h"

namespace teson::logs {
namespace {

constexpr std::string_view kListBinding = "groups";
constexpr int kMaxListed = 50;

// Source: PutRetentionPolicy's page.
constexpr std::array kRetentionDays = {1,   3,   5,   7,   14,   30,   60,   90,   120,  150,  180,
                                       365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653};

}  // namespace

Service::Answer Service::create_log_group(const wire::JsonValue& body) {
  TESON_TRY(const std::string name, required_group_name(body));
  TESON_TRY(const auto tags, tags_field(body, "tags", false));
  if (name == AttemptLogs::kName) return conflict(fmt::format("The log group '{}' already exists.", name));
  TESON_TRY_STATUS(stored_.create_group(name, Tags(tags.begin(), tags.end())));
  return wire::Json::object();
}

Service::Answer Service::delete_log_group(const wire::JsonValue& body) {
  TESON_TRY(const std::string name, required_group_name(body));
  TESON_TRY_STATUS(expect_clients_group(name, "DeleteLogGroup"));
  TESON_TRY_STATUS(stored_.delete_group(name));
  return wire::Json::object();
}

// Up to `limit` groups in order of name, the server's own among them.
Result<std::vector<StoredLogGroup>> Service::groups_after(const std::string& prefix, const std::string& pattern,
                                                          const std::string& after, size_t limit) const {
  const std::string own = AttemptLogs::kName;
  bool own_waits = own.starts_with(prefix) && own.contains(pattern) && own > after;
  std::vector<StoredLogGroup> groups;
  std::string last = after;
  for (;;) {
    TESON_TRY(auto page, stored_.list_groups(prefix, last, kMaxListed));
    const bool more = page.size() == static_cast<size_t>(kMaxListed);
    for (StoredLogGroup& group : page) {
      last = group.name;
      if (own_waits && own < group.name) {
        groups.push_back(attempts_group());
        own_waits = false;
      }
      if (group.name.contains(pattern)) groups.push_back(std::move(group));
    }
    if (!more && own_waits) groups.push_back(attempts_group());
    if (groups.size() > limit) groups.resize(limit);
    if (!more || groups.size() == limit) return groups;
  }
}

wire::Json Service::group_json(const StoredLogGroup& group) const {
  const std::string arn = group_arn(settings_, group.name);
  wire::Json json = {{"logGroupName", group.name},
                     {"creationTime", group.created.millis()},
                     {"metricFilterCount", 0},
                     {"arn", arn + ":*"},
                     {"logGroupArn", arn},
                     {"logGroupClass", "STANDARD"},
                     {"storedBytes", group.stored_bytes}};
  if (group.retention_days) json["retentionInDays"] = *group.retention_days;
  return json;
}

Service::Answer Service::describe_log_groups(const wire::JsonValue& body) {
  TESON_TRY(const auto prefix, optional_group_name(body, "logGroupNamePrefix", 1));
  TESON_TRY(const auto pattern, optional_group_name(body, "logGroupNamePattern", 0));
  if (prefix && pattern) return invalid("logGroupNamePrefix and logGroupNamePattern are both given: give one of them.");
  TESON_TRY(const auto limit, wire::optional_int(body, "limit", {1, kMaxListed}));
  TESON_TRY(const auto text, wire::optional_string(body, "nextToken"));
  const std::string bound = binding(prefix.value_or("") + ":" + pattern.value_or(""), kListBinding);
  ListToken token;
  if (text) {
    const auto parsed = parse_list_token(*text, bound);
    if (!parsed) return invalid_token();
    token = *parsed;
  }
  const auto count = static_cast<size_t>(limit.value_or(kMaxListed));
  TESON_TRY(auto groups, groups_after(prefix.value_or(""), pattern.value_or(""), token.name, count + 1));
  wire::Json answer = {{"logGroups", wire::Json::array()}};
  if (groups.size() > count) {
    groups.resize(count);
    answer["nextToken"] = list_token({0, groups.back().name}, bound);
  }
  for (const StoredLogGroup& group : groups) answer["logGroups"].push_back(group_json(group));
  return answer;
}

Service::Answer Service::put_retention_policy(const wire::JsonValue& body) {
  TESON_TRY(const std::string name, required_group_name(body));
  TESON_TRY(const auto value, wire::required_field(body, "retentionInDays"));
  TESON_TRY(const int64_t days, value.as_int());
  if (std::ranges::find(kRetentionDays, days) == kRetentionDays.end())
    return value.refuse(fmt::format("Member must satisfy enum value set: [{}]", fmt::join(kRetentionDays, ", ")));
  TESON_TRY_STATUS(expect_clients_group(name, "PutRetentionPolicy"));
  TESON_TRY_STATUS(stored_.set_retention(name, static_cast<int>(days)));
  return wire::Json::object();
}

Service::Answer Service::delete_retention_policy(const wire::JsonValue& body) {
  TESON_TRY(const std::string name, required_group_name(body));
  TESON_TRY_STATUS(expect_clients_group(name, "DeleteRetentionPolicy"));
  TESON_TRY_STATUS(stored_.set_retention(name, std::nullopt));
  return wire::Json::object();
}

}  // namespace teson::logs
