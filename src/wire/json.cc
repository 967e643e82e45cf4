// Parsing and single values; fields of objects are in json_fields.cc.
#include "wire/json.h"

#include <fmt/format.h>

#include <cmath>

namespace teson::wire {
namespace {

// Deepest nesting of brackets outside strings. Malformed text may give any answer; the parser refuses it later.
int nesting_depth(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

// nlohmann's text without its "[json.exception...]" tag, so that the message reads as ours.
std::string plain_reason(std::string_view what) {
  if (what.starts_with('[')) {
    const size_t end = what.find("] ");
    if (end != std::string_view::npos) what.remove_prefix(end + 2);
  }
  return std::string(what);
}

constexpr size_t kShownOfValue = 80;
constexpr size_t kShownOfPath = 200;

std::string shortened(std::string text, size_t most) {
  if (text.size() <= most) return text;
  size_t end = most;
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

std::string shown(const Json& value, size_t most = kShownOfValue) {
  if (!value.is_string()) return shortened(json_text(value), most);
  // As JSON writes it, so that line breaks and control characters show, but without the outer quotes.
  const std::string quoted = json_text(value);
  return shortened(quoted.substr(1, quoted.size() - 2), most);
}

}  // namespace

Result<Json> parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return invalid(fmt::format("The JSON text has {} bytes; at most {} are accepted.", text.size(), limits.max_bytes));
  }
  if (const int depth = nesting_depth(text); depth > limits.max_depth) {
    return invalid(
        fmt::format("The JSON text is nested {} levels deep; at most {} are accepted.", depth, limits.max_depth));
  }
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    return invalid(fmt::format("The request body is not valid JSON: {}.", plain_reason(error.what())));
  }
}

Result<Json> parse_json_object(std::string_view text, const JsonLimits& limits) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return Json::object();
  Result<Json> value = parse_json(text, limits);
  if (value && !value->is_object()) {
    return invalid(
        fmt::format("The request body must be a JSON object, not {} ('{}').", value->type_name(), shown(*value)));
  }
  return value;
}

std::string json_text(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

size_t character_count(std::string_view utf8) {
  size_t count = 0;
  for (const char c : utf8) count += (static_cast<uint8_t>(c) & 0xC0) != 0x80;
  return count;
}

std::unexpected<Error> JsonValue::refuse(std::string_view constraint) const {
  // A path may end with a map's key, which is the client's.
  return invalid(fmt::format("Value '{}' at '{}' failed to satisfy constraint: {}", shown(*value_),
                             path_.empty() ? "the request body" : shown(path_, kShownOfPath), constraint));
}

Result<std::string> JsonValue::as_string(StringLimits limits) const {
  if (!value_->is_string()) return refuse("Member must be a string");
  const std::string& text = value_->get_ref<const std::string&>();
  const size_t characters = character_count(text);
  if (characters < limits.min) {
    return refuse(
        fmt::format("Member must have length greater than or equal to {} (it has {})", limits.min, characters));
  }
  if (characters > limits.max) {
    return refuse(fmt::format("Member must have length less than or equal to {} (it has {})", limits.max, characters));
  }
  return text;
}

Result<int64_t> JsonValue::as_int(IntLimits limits) const {
  const auto too_small = [&] {
    return refuse(fmt::format("Member must have value greater than or equal to {}", limits.min));
  };
  const auto too_large = [&] {
    return refuse(fmt::format("Member must have value less than or equal to {}", limits.max));
  };
  int64_t number = 0;
  if (value_->is_number_unsigned()) {
    const uint64_t big = value_->get<uint64_t>();
    if (big > static_cast<uint64_t>(INT64_MAX)) return too_large();
    number = static_cast<int64_t>(big);
  } else if (value_->is_number_integer()) {
    number = value_->get<int64_t>();
  } else if (value_->is_number_float()) {
    // "3.0" is an integer to AWS; 2^53 bounds what a double holds exactly.
    constexpr double kExact = 9007199254740992.0;
    const double real = value_->get<double>();
    if (std::trunc(real) != real) return refuse("Member must be an integer");
    if (real > kExact) return too_large();
    if (real < -kExact) return too_small();
    number = static_cast<int64_t>(real);
  } else {
    return refuse("Member must be an integer");
  }
  if (number < limits.min) return too_small();
  if (number > limits.max) return too_large();
  return number;
}

Result<double> JsonValue::as_double() const {
  if (!value_->is_number()) return refuse("Member must be a number");
  return value_->get<double>();
}

Result<bool> JsonValue::as_bool() const {
  if (!value_->is_boolean()) return refuse("Member must be true or false");
  return value_->get<bool>();
}

Status JsonValue::expect_object() const {
  if (!value_->is_object()) return refuse("Member must be an object");
  return {};
}

}  // namespace teson::wire
