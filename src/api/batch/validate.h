// Checks that several operations share: names, tags, text that may reach a program. Pure; any thread.
//
// Limits as in the AWS Batch API reference (2016-08-10) and the "service quotas" page of its user guide.
#pragma once

#include <string>
#include <string_view>

#include "domain/job.h"
#include "wire/json.h"

namespace teson::batch {

using wire::Json;
using wire::JsonValue;

inline constexpr size_t kMaxNameLength = 128;
inline constexpr size_t kMaxTags = 50;
inline constexpr size_t kMaxReasonLength = 1024;
inline constexpr size_t kMaxSubmitBytes = 30 * 1024;
inline constexpr size_t kMaxDefinitionBytes = 24 * 1024;
inline constexpr std::string_view kNameRule =
    "it must have 1 to 128 letters (A-Z, a-z), digits, hyphens and underscores";

// In double quotes, control characters and what is not ASCII escaped, cut at 100 characters: safe in one line of a log.
std::string in_quotes(std::string_view text);

// A resource's name: 1 to 128 of [A-Za-z0-9_-].
bool is_resource_name(std::string_view text);
Result<std::string> required_name(const JsonValue& object, const char* field);
// A job's: also starts with a letter or digit.
Result<std::string> required_job_name(const JsonValue& object, const char* field);

// At most 50; keys of 1 to 128 characters that do not begin with "aws:", values of at most 256.
Result<Tags> optional_tags(const JsonValue& object, const char* field);
Status check_tags(const Tags& tags);

// Filters: names are compared without their case, and a trailing '*' in the pattern stands for any rest.
std::string lower(std::string text);
bool matches_pattern(std::string_view pattern, std::string_view text);

// Text that becomes an argument or environment variable may hold anything but NUL.
Status check_no_nul(const JsonValue& value);

// Refuses a member that a later version brings. Absent, null and {} or [] are fine: SDKs send them.
Status refuse_member(const JsonValue& object, const char* field, std::string_view what);

}  // namespace teson::batch
