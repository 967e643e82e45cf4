#include "api/logs/parameters.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/try.h"

namespace teson::logs {
namespace {

constexpr size_t kMaxName = 512;
constexpr size_t kMaxTags = 50;

bool is_plain(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// The pattern is \p{L}\p{Z}\p{N} and some signs. Characters beyond ASCII are let through: telling letters from others
// would need Unicode's tables, and nothing here depends on it.
bool is_tag_text(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return is_plain(c) || static_cast<uint8_t>(c) >= 0x80 || std::string_view(" _.:/=+-@").contains(c);
  });
}

Result<std::string> group_name(const wire::JsonValue& value, size_t min = 1) {
  TESON_TRY(const std::string name, value.as_string({min, kMaxName}));
  const bool good =
      std::ranges::all_of(name, [](char c) { return is_plain(c) || std::string_view(".-_/#").contains(c); });
  if (!good) return value.refuse(R"(Member must satisfy regular expression pattern: [\.\-_/#A-Za-z0-9]+)");
  return name;
}

// The first control character of well-formed UTF-8: U+0000 to U+001F, U+007F, U+0080 to U+009F.
std::optional<unsigned> control_character(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if (byte < 0x20 || byte == 0x7F) return byte;
    if (byte == 0xC2 && i + 1 < text.size() && static_cast<uint8_t>(text[i + 1]) < 0xA0)
      return static_cast<uint8_t>(text[i + 1]);
  }
  return std::nullopt;
}

Result<std::string> stream_name(const wire::JsonValue& value) {
  TESON_TRY(const std::string name, value.as_string({1, kMaxName}));
  if (name.find_first_of(":*") != std::string::npos)
    return value.refuse("Member must satisfy regular expression pattern: [^:*]*");
  if (const auto control = control_character(name))
    return value.refuse(fmt::format("Member must not contain control characters (it has U+{:04X})", *control));
  return name;
}

}  // namespace

std::string group_arn(const LogsSettings& settings, std::string_view group) {
  return fmt::format("arn:aws:logs:{}:{}:log-group:{}", settings.region, settings.account_id, group);
}

std::string stream_arn(const LogsSettings& settings, std::string_view group, std::string_view stream) {
  return fmt::format("{}:log-stream:{}", group_arn(settings, group), stream);
}

Result<std::string> required_group_name(const wire::JsonValue& body) {
  TESON_TRY(const auto value, wire::required_field(body, "logGroupName"));
  return group_name(value);
}

Result<std::optional<std::string>> optional_group_name(const wire::JsonValue& body, const char* name, size_t min) {
  const auto value = wire::field(body, name);
  if (!value) return std::optional<std::string>();
  TESON_TRY(std::string text, group_name(*value, min));
  return std::optional<std::string>(std::move(text));
}

Result<std::string> required_stream_name(const wire::JsonValue& body) {
  TESON_TRY(const auto value, wire::required_field(body, "logStreamName"));
  return stream_name(value);
}

Result<std::optional<std::string>> optional_stream_name(const wire::JsonValue& body, const char* name) {
  const auto value = wire::field(body, name);
  if (!value) return std::optional<std::string>();
  TESON_TRY(std::string text, stream_name(*value));
  return std::optional<std::string>(std::move(text));
}

Result<std::vector<std::string>> stream_names(const wire::JsonValue& body, const char* name, size_t max) {
  TESON_TRY(const auto values, wire::optional_array(body, name, max));
  std::vector<std::string> names;
  names.reserve(values.size());
  for (const wire::JsonValue& value : values) {
    TESON_TRY(std::string text, stream_name(value));
    names.push_back(std::move(text));
  }
  return names;
}

Result<std::string> group_of_arn(const wire::JsonValue& value, const LogsSettings& settings) {
  TESON_TRY(const std::string arn, value.as_string({1, 2048}));
  const std::string prefix = group_arn(settings, "");
  if (!arn.starts_with(prefix))
    return value.refuse(fmt::format("Member must be the ARN of a log group of this server: {}NAME", prefix));
  std::string name = arn.substr(prefix.size());
  if (name.ends_with(":*")) name.resize(name.size() - 2);
  const wire::Json text = name;
  return group_name(wire::JsonValue(text, value.path()));
}

Result<std::string> group_name_or_identifier(const wire::JsonValue& body, const LogsSettings& settings) {
  const auto identifier = wire::field(body, "logGroupIdentifier");
  if (!identifier) return required_group_name(body);
  if (wire::field(body, "logGroupName"))
    return invalid("logGroupName and logGroupIdentifier are both given: give one of them.");
  TESON_TRY(const std::string text, identifier->as_string({1, 2048}));
  if (text.starts_with("arn:")) return group_of_arn(*identifier, settings);
  return group_name(*identifier);
}

Result<wire::StringMap> tags_field(const wire::JsonValue& body, const char* name, bool required) {
  if (required) {
    TESON_TRY_STATUS(wire::required_field(body, name));
  }
  TESON_TRY(auto tags,
            wire::optional_string_map(body, name, {.max_entries = kMaxTags, .key = {1, 128}, .value = {0, 256}}));
  for (const auto& [key, value] : tags) {
    if (!is_tag_text(key) || !is_tag_text(value))
      return invalid(
          fmt::format("Tag {}={} at '{}' holds a character that tags may not have: use letters, digits, "
                      "blanks and _.:/=+-@",
                      wire::json_text(key), wire::json_text(value), name));
    if (key.starts_with("aws:"))
      return invalid(fmt::format("Tag key '{}' at '{}' begins with 'aws:', which is reserved.", key, name));
  }
  return tags;
}

std::unexpected<Error> invalid_token() { return invalid("The specified nextToken is invalid."); }

std::unexpected<Error> no_such_group(std::string_view name) {
  return not_found(fmt::format("The specified log group does not exist: '{}'.", name));
}

std::unexpected<Error> no_such_stream(std::string_view group, std::string_view name) {
  return not_found(fmt::format("The specified log stream does not exist: '{}' in group '{}'.", name, group));
}

}  // namespace teson::logs
