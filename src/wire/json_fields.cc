#include <fmt/format.h>

#include <algorithm>

#include "wire/json.h"

namespace teson::wire {
namespace {

std::string path_to(const JsonValue& object, const char* name) {
  return object.path().empty() ? name : fmt::format("{}.{}", object.path(), name);
}

std::unexpected<Error> missing(const JsonValue& object, const char* name) {
  return invalid(
      fmt::format("Value null at '{}' failed to satisfy constraint: Member must not be null", path_to(object, name)));
}

Result<std::string> checked_enum(const JsonValue& value, std::initializer_list<std::string_view> allowed) {
  Result<std::string> text = value.as_string();
  if (!text) return text;
  if (std::find(allowed.begin(), allowed.end(), *text) != allowed.end()) return text;
  return value.refuse(fmt::format("Member must satisfy enum value set: [{}]", fmt::join(allowed, ", ")));
}

template <class T, class Read>
Result<std::optional<T>> optional_value(const JsonValue& object, const char* name, const Read& read) {
  const std::optional<JsonValue> value = field(object, name);
  if (!value) return std::optional<T>();
  Result<T> result = read(*value);
  if (!result) return std::unexpected(std::move(result.error()));
  return std::optional<T>(std::move(*result));
}

template <class T, class Read>
Result<T> required_value(const JsonValue& object, const char* name, const Read& read) {
  const std::optional<JsonValue> value = field(object, name);
  if (!value) return missing(object, name);
  return read(*value);
}

Result<JsonValue> checked_object(const JsonValue& value) {
  if (Status status = value.expect_object(); !status) return std::unexpected(std::move(status.error()));
  return value;
}

Result<std::vector<JsonValue>> elements(const JsonValue& array, size_t min, size_t max) {
  if (!array.json().is_array()) return array.refuse("Member must be a list");
  const size_t size = array.json().size();
  if (size < min)
    return array.refuse(fmt::format("Member must have length greater than or equal to {} (it has {})", min, size));
  if (size > max)
    return array.refuse(fmt::format("Member must have length less than or equal to {} (it has {})", max, size));
  std::vector<JsonValue> out;
  out.reserve(size);
  for (size_t i = 0; i < size; ++i) {
    out.emplace_back(array.json()[i], fmt::format("{}[{}]", array.path(), i));
    if (out.back().json().is_null()) return out.back().refuse("Member must not be null");
  }
  return out;
}

}  // namespace

std::optional<JsonValue> field(const JsonValue& object, const char* name) {
  const auto found = object.json().find(name);
  if (found == object.json().end() || found->is_null()) return std::nullopt;
  return JsonValue(*found, path_to(object, name));
}

Result<JsonValue> required_field(const JsonValue& object, const char* name) {
  return required_value<JsonValue>(object, name, [](const JsonValue& value) -> Result<JsonValue> { return value; });
}

Result<std::string> required_string(const JsonValue& object, const char* name, StringLimits limits) {
  return required_value<std::string>(object, name, [&](const JsonValue& value) { return value.as_string(limits); });
}

Result<std::string> required_string(const JsonValue& object, const char* name, size_t max) {
  return required_string(object, name, StringLimits{1, max});
}

Result<std::optional<std::string>> optional_string(const JsonValue& object, const char* name, StringLimits limits) {
  return optional_value<std::string>(object, name, [&](const JsonValue& value) { return value.as_string(limits); });
}

Result<std::optional<std::string>> optional_string(const JsonValue& object, const char* name, size_t max) {
  return optional_string(object, name, StringLimits{0, max});
}

Result<std::string> required_enum(const JsonValue& object, const char* name,
                                  std::initializer_list<std::string_view> allowed) {
  return required_value<std::string>(object, name,
                                     [&](const JsonValue& value) { return checked_enum(value, allowed); });
}

Result<std::optional<std::string>> optional_enum(const JsonValue& object, const char* name,
                                                 std::initializer_list<std::string_view> allowed) {
  return optional_value<std::string>(object, name,
                                     [&](const JsonValue& value) { return checked_enum(value, allowed); });
}

Result<int64_t> required_int(const JsonValue& object, const char* name, IntLimits limits) {
  return required_value<int64_t>(object, name, [&](const JsonValue& value) { return value.as_int(limits); });
}

Result<std::optional<int64_t>> optional_int(const JsonValue& object, const char* name, IntLimits limits) {
  return optional_value<int64_t>(object, name, [&](const JsonValue& value) { return value.as_int(limits); });
}

Result<std::optional<double>> optional_double(const JsonValue& object, const char* name) {
  return optional_value<double>(object, name, [](const JsonValue& value) { return value.as_double(); });
}

Result<std::optional<bool>> optional_bool(const JsonValue& object, const char* name) {
  return optional_value<bool>(object, name, [](const JsonValue& value) { return value.as_bool(); });
}

Result<JsonValue> required_object(const JsonValue& object, const char* name) {
  return required_value<JsonValue>(object, name, checked_object);
}

Result<std::optional<JsonValue>> optional_object(const JsonValue& object, const char* name) {
  return optional_value<JsonValue>(object, name, checked_object);
}

Result<std::vector<JsonValue>> optional_array(const JsonValue& object, const char* name, size_t max) {
  const std::optional<JsonValue> array = field(object, name);
  if (!array) return std::vector<JsonValue>();
  return elements(*array, 0, max);
}

Result<std::vector<JsonValue>> required_array(const JsonValue& object, const char* name, size_t min, size_t max) {
  const std::optional<JsonValue> array = field(object, name);
  if (!array) return missing(object, name);
  return elements(*array, min, max);
}

Result<std::vector<JsonValue>> optional_object_array(const JsonValue& object, const char* name, size_t max) {
  Result<std::vector<JsonValue>> values = optional_array(object, name, max);
  if (!values) return values;
  for (const JsonValue& value : *values) {
    if (Status status = value.expect_object(); !status) return std::unexpected(std::move(status.error()));
  }
  return values;
}

Result<std::vector<std::string>> optional_string_array(const JsonValue& object, const char* name, size_t max,
                                                       StringLimits each) {
  const Result<std::vector<JsonValue>> values = optional_array(object, name, max);
  if (!values) return std::unexpected(values.error());
  std::vector<std::string> out;
  out.reserve(values->size());
  for (const JsonValue& value : *values) {
    Result<std::string> text = value.as_string(each);
    if (!text) return std::unexpected(std::move(text.error()));
    out.push_back(std::move(*text));
  }
  return out;
}

Result<StringMap> optional_string_map(const JsonValue& object, const char* name, StringMapLimits limits) {
  const std::optional<JsonValue> map = field(object, name);
  if (!map) return StringMap();
  if (Status status = map->expect_object(); !status) return std::unexpected(std::move(status.error()));
  if (map->json().size() > limits.max_entries) {
    return map->refuse(
        fmt::format("Map must have at most {} entries (it has {})", limits.max_entries, map->json().size()));
  }
  StringMap out;
  for (const auto& [key, value] : map->json().items()) {
    const size_t characters = character_count(key);
    if (characters < limits.key.min || characters > limits.key.max) {
      return map->refuse(
          fmt::format("Map keys must satisfy constraint: Member must have length from {} to {} (one has {})",
                      limits.key.min, limits.key.max, characters));
    }
    Result<std::string> text = JsonValue(value, fmt::format("{}.{}", map->path(), key)).as_string(limits.value);
    if (!text) return std::unexpected(std::move(text.error()));
    out.emplace_back(key, std::move(*text));
  }
  return out;
}

}  // namespace teson::wire
