// Fields that several operations share, checked as CloudWatch Logs does. Sources of the bounds: botocore's model of
// 2014-03-28. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/json.h"

namespace teson::logs {

// Where things are, for ARNs.
struct LogsSettings {
  std::string region;
  std::string account_id;
};

// What PutLogEvents hands out and accepts: sequence tokens are ignored on AWS too, since 2023.
inline constexpr const char* kSequenceToken = "49000000000000000000000000000000000000000000000000000000";

std::string group_arn(const LogsSettings& settings, std::string_view group);  // without the ":*" that some answers add
std::string stream_arn(const LogsSettings& settings, std::string_view group, std::string_view stream);

Result<std::string> required_group_name(const wire::JsonValue& body);
// logGroupName, or logGroupIdentifier: a name, or an ARN of a group in this region and account.
Result<std::string> group_name_or_identifier(const wire::JsonValue& body, const LogsSettings& settings);
// The group that an ARN names, with or without ":*" at its end.
Result<std::string> group_of_arn(const wire::JsonValue& arn, const LogsSettings& settings);
// Part of a group's name, of at least so many characters.
Result<std::optional<std::string>> optional_group_name(const wire::JsonValue& body, const char* name, size_t min);

// Names of streams hold no ':', '*' or control character: what AWS's pattern lets through of those (a line break), no
// client can use.
Result<std::string> required_stream_name(const wire::JsonValue& body);
Result<std::optional<std::string>> optional_stream_name(const wire::JsonValue& body, const char* name);
Result<std::vector<std::string>> stream_names(const wire::JsonValue& body, const char* name, size_t max);

// `name` of `body`: at most 50 tags; keys 1..128 and values up to 256 characters of letters, digits, blanks, _.:/=+-@;
// keys may not begin with "aws:".
Result<wire::StringMap> tags_field(const wire::JsonValue& body, const char* name, bool required);

std::unexpected<Error> invalid_token();
std::unexpected<Error> no_such_group(std::string_view name);
std::unexpected<Error> no_such_stream(std::string_view group, std::string_view name);

}  // namespace teson::logs
