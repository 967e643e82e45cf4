// Tags of groups: by ARN (TagResource), and by name (the older TagLogGroup).
#include <fmt/format.h>

#include "api/logs/service.h"
#include "base/try.h"

namespace teson::logs {
namespace {

constexpr size_t kMaxTags = 50;

}  // namespace

Result<Tags> Service::tags_of(const std::string& group) const {
  if (group == AttemptLogs::kName) return Tags();
  TESON_TRY(const auto found, stored_.find_group(group));
  if (!found) return no_such_group(group);
  return found->tags;
}

Service::Answer Service::add_tags(const std::string& group, const wire::StringMap& added) {
  TESON_TRY_STATUS(expect_clients_group(group, "Tagging"));
  const std::lock_guard lock(tags_mutex_);
  TESON_TRY(Tags tags, tags_of(group));
  for (const auto& [key, value] : added) tags[key] = value;
  if (tags.size() > kMaxTags)
    return conflict(
        fmt::format("The log group '{}' would have {} tags; at most {} are allowed.", group, tags.size(), kMaxTags));
  TESON_TRY_STATUS(stored_.set_tags(group, tags));
  return wire::Json::object();
}

Service::Answer Service::remove_tags(const std::string& group, const std::vector<std::string>& keys) {
  TESON_TRY_STATUS(expect_clients_group(group, "Tagging"));
  const std::lock_guard lock(tags_mutex_);
  TESON_TRY(Tags tags, tags_of(group));
  for (const std::string& key : keys) tags.erase(key);
  TESON_TRY_STATUS(stored_.set_tags(group, tags));
  return wire::Json::object();
}

Service::Answer Service::tag_resource(const wire::JsonValue& body) {
  TESON_TRY(const auto arn, wire::required_field(body, "resourceArn"));
  TESON_TRY(const std::string group, group_of_arn(arn, settings_));
  TESON_TRY(const auto tags, tags_field(body, "tags", true));
  return add_tags(group, tags);
}

Service::Answer Service::untag_resource(const wire::JsonValue& body) {
  TESON_TRY(const auto arn, wire::required_field(body, "resourceArn"));
  TESON_TRY(const std::string group, group_of_arn(arn, settings_));
  TESON_TRY_STATUS(wire::required_field(body, "tagKeys"));
  TESON_TRY(const auto keys, wire::optional_string_array(body, "tagKeys", kMaxTags, {1, 128}));
  return remove_tags(group, keys);
}

Service::Answer Service::list_tags_for_resource(const wire::JsonValue& body) {
  TESON_TRY(const auto arn, wire::required_field(body, "resourceArn"));
  TESON_TRY(const std::string group, group_of_arn(arn, settings_));
  TESON_TRY(const Tags tags, tags_of(group));
  return wire::Json{{"tags", tags}};
}

Service::Answer Service::tag_log_group(const wire::JsonValue& body) {
  TESON_TRY(const std::string group, required_group_name(body));
  TESON_TRY(const auto tags, tags_field(body, "tags", true));
  return add_tags(group, tags);
}

Service::Answer Service::untag_log_group(const wire::JsonValue& body) {
  TESON_TRY(const std::string group, required_group_name(body));
  TESON_TRY_STATUS(wire::required_array(body, "tags", 1));
  TESON_TRY(const auto keys, wire::optional_string_array(body, "tags", SIZE_MAX, {1, 128}));
  return remove_tags(group, keys);
}

Service::Answer Service::list_tags_log_group(const wire::JsonValue& body) {
  TESON_TRY(const std::string group, required_group_name(body));
  TESON_TRY(const Tags tags, tags_of(group));
  return wire::Json{{"tags", tags}};
}

}  // namespace teson::logs
