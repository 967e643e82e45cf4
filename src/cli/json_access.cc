#include "cli/json_access.h"

namespace teson::cli {

const Json& field(const Json& object, const char* name) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(name);
  return found == object.end() ? kNull : *found;
}

std::string text_field(const Json& object, const char* name) {
  const Json& value = field(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::optional<int64_t> int_field(const Json& object, const char* name) {
  const Json& value = field(object, name);
  if (!value.is_number()) return std::nullopt;
  return value.get<int64_t>();
}

const Json& array_field(const Json& object, const char* name) {
  static const Json kEmpty = Json::array();
  const Json& value = field(object, name);
  return value.is_array() ? value : kEmpty;
}

std::string json_text(const Json& value) { return value.dump(2, ' ', false, Json::error_handler_t::replace); }

std::string json_line(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace teson::cli
