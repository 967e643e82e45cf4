// JSON that came from outside: bounded strict parsing, and field getters that answer as AWS's validation does.
//
// Pure; any thread; no exception leaves. Unknown fields are ignored and null counts as absent, as on AWS; a value of
// the wrong type is refused. Every message names the field by its path, the value (shortened) and the bound.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace teson::wire {

using Json = nlohmann::json;

struct JsonLimits {
  size_t max_bytes = 8 * 1024 * 1024;
  int max_depth = 64;
};

// The whole text must be one value. Of duplicate keys the last counts. Invalid UTF-8 is refused.
Result<Json> parse_json(std::string_view text, const JsonLimits& limits = {});
// As above, but must be an object; an empty text is {} (what SDKs send for an operation without input).
Result<Json> parse_json_object(std::string_view text, const JsonLimits& limits = {});
// Never throws: text that is not UTF-8 has U+FFFD in its place.
std::string json_text(const Json& value);

struct StringLimits {
  size_t min = 0;  // in characters (code points), as AWS counts
  size_t max = SIZE_MAX;
};
struct IntLimits {
  int64_t min = INT64_MIN;
  int64_t max = INT64_MAX;
};

// A JSON value together with where it stands in the request, for messages. Refers to the Json it was made from.
class JsonValue {
 public:
  JsonValue(const Json& value, std::string path) : value_(&value), path_(std::move(path)) {}

  const Json& json() const { return *value_; }
  // "containerOverrides.environment[3]"; empty for the whole body.
  const std::string& path() const { return path_; }

  Result<std::string> as_string(StringLimits limits = {}) const;
  Result<int64_t> as_int(IntLimits limits = {}) const;
  Result<double> as_double() const;
  Result<bool> as_bool() const;
  Status expect_object() const;

  // What a handler says about a value that is of the right type but not acceptable: "Value '...' at 'path' failed to
  // satisfy constraint: <constraint>".
  std::unexpected<Error> refuse(std::string_view constraint) const;

 private:
  const Json* value_;
  std::string path_;
};

// ---- Fields of an object. `object` must be a JSON object (parse_json_object, or expect_object() passed). ----

// Whole-body entry point: JsonValue(body, "").
std::optional<JsonValue> field(const JsonValue& object, const char* name);
// Present and not null, or an error.
Result<JsonValue> required_field(const JsonValue& object, const char* name);

Result<std::string> required_string(const JsonValue& object, const char* name, StringLimits limits = {1});
Result<std::string> required_string(const JsonValue& object, const char* name, size_t max);
Result<std::optional<std::string>> optional_string(const JsonValue& object, const char* name, StringLimits limits = {});
Result<std::optional<std::string>> optional_string(const JsonValue& object, const char* name, size_t max);
// One of `allowed`, exactly.
Result<std::string> required_enum(const JsonValue& object, const char* name,
                                  std::initializer_list<std::string_view> allowed);
Result<std::optional<std::string>> optional_enum(const JsonValue& object, const char* name,
                                                 std::initializer_list<std::string_view> allowed);

Result<int64_t> required_int(const JsonValue& object, const char* name, IntLimits limits = {});
Result<std::optional<int64_t>> optional_int(const JsonValue& object, const char* name, IntLimits limits = {});
Result<std::optional<double>> optional_double(const JsonValue& object, const char* name);
Result<std::optional<bool>> optional_bool(const JsonValue& object, const char* name);

// An object within; absent is nullopt.
Result<JsonValue> required_object(const JsonValue& object, const char* name);
Result<std::optional<JsonValue>> optional_object(const JsonValue& object, const char* name);

// The elements of an array; absent is empty. null elements are refused.
Result<std::vector<JsonValue>> optional_array(const JsonValue& object, const char* name, size_t max = SIZE_MAX);
Result<std::vector<JsonValue>> required_array(const JsonValue& object, const char* name, size_t min = 1,
                                              size_t max = SIZE_MAX);
Result<std::vector<JsonValue>> optional_object_array(const JsonValue& object, const char* name, size_t max = SIZE_MAX);
Result<std::vector<std::string>> optional_string_array(const JsonValue& object, const char* name, size_t max = SIZE_MAX,
                                                       StringLimits each = {});

// A map of strings (tags, parameters), sorted by key; absent is empty.
struct StringMapLimits {
  size_t max_entries = SIZE_MAX;
  StringLimits key = {1};
  StringLimits value = {};
};
using StringMap = std::vector<std::pair<std::string, std::string>>;
Result<StringMap> optional_string_map(const JsonValue& object, const char* name, StringMapLimits limits = {});

// Characters (code points) of a UTF-8 text.
size_t character_count(std::string_view utf8);

}  // namespace teson::wire
