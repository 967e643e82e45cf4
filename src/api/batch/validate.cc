#include "api/batch/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/try.h"

namespace teson::batch {
namespace {

bool is_alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool has_aws_prefix(std::string_view key) {
  constexpr std::string_view kPrefix = "aws:";
  return key.size() >= kPrefix.size() && std::equal(kPrefix.begin(), kPrefix.end(), key.begin(), [](char a, char b) {
           return a == std::tolower(static_cast<unsigned char>(b));
         });
}

}  // namespace

std::string in_quotes(std::string_view text) {
  constexpr size_t kShown = 100;
  std::string out = "\"";
  for (const char c : text.substr(0, kShown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + (text.size() > kShown ? "\"..." : "\"");
}

bool is_resource_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameLength &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_alphanumeric(c) || c == '-' || c == '_'; });
}

Result<std::string> required_name(const JsonValue& object, const char* field) {
  TESON_TRY(std::string name, wire::required_string(object, field, wire::StringLimits{}));
  if (is_resource_name(name)) return name;
  return invalid(fmt::format("Value {} at '{}' is no valid name: {}", in_quotes(name), field, kNameRule));
}

Result<std::string> required_job_name(const JsonValue& object, const char* field) {
  TESON_TRY(std::string name, required_name(object, field));
  if (is_alphanumeric(name.front())) return name;
  return invalid(
      fmt::format("Value {} at '{}' is no valid name: it must start with a letter or digit", in_quotes(name), field));
}

Result<Tags> optional_tags(const JsonValue& object, const char* field) {
  const wire::StringMapLimits limits{kMaxTags, {1, 128}, {0, 256}};
  TESON_TRY(const wire::StringMap map, wire::optional_string_map(object, field, limits));
  Tags tags(map.begin(), map.end());
  TESON_TRY_STATUS(check_tags(tags));
  return tags;
}

Status check_tags(const Tags& tags) {
  if (tags.size() > kMaxTags)
    return invalid(fmt::format("{} tags: a resource may have at most {}", tags.size(), kMaxTags));
  for (const auto& [key, value] : tags) {
    if (has_aws_prefix(key)) return invalid(fmt::format("tag key {}: the prefix aws: is reserved", in_quotes(key)));
  }
  return {};
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool matches_pattern(std::string_view pattern, std::string_view text) {
  if (!pattern.ends_with('*')) return pattern == text;
  pattern.remove_suffix(1);
  return text.starts_with(pattern);
}

Status check_no_nul(const JsonValue& value) {
  if (value.json().is_string() && value.json().get_ref<const std::string&>().find('\0') != std::string::npos) {
    return invalid(
        fmt::format("'{}' holds a NUL character, which no argument or environment variable can carry", value.path()));
  }
  return {};
}

Status refuse_member(const JsonValue& object, const char* field, std::string_view what) {
  const auto value = wire::field(object, field);
  if (!value || value->json().empty()) return {};
  return invalid(fmt::format("'{}': {} not supported by this version of teson", value->path(), what));
}

}  // namespace teson::batch
