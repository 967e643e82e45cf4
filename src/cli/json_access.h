// Reading answers without exceptions: a field that is absent or of another type is its empty value.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace teson::cli {

using Json = nlohmann::ordered_json;

// Null where `object` is no object or has no such field.
const Json& field(const Json& object, const char* name);
std::string text_field(const Json& object, const char* name);
std::optional<int64_t> int_field(const Json& object, const char* name);
// An empty array where there is none.
const Json& array_field(const Json& object, const char* name);
// Indented, never throws: bytes that are not UTF-8 are replaced.
std::string json_text(const Json& value);
std::string json_line(const Json& value);

}  // namespace teson::cli
