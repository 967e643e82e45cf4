#include "codec/reader.h"

#include <charconv>

namespace teson::codec {
namespace {

template <class T>
void read_integer(ReadContext& context, const Json& json, T& value) {
  if (!json.is_number_integer()) return context.fail("an integer", json);
  // nlohmann keeps non-negative numbers as unsigned, negative ones as signed.
  if (json.is_number_unsigned()) {
    const auto number = json.get<uint64_t>();
    if (std::in_range<T>(number)) {
      value = static_cast<T>(number);
      return;
    }
  } else {
    const auto number = json.get<int64_t>();
    if (std::in_range<T>(number)) {
      value = static_cast<T>(number);
      return;
    }
  }
  context.fail_text("the number " + json.dump() + " is out of range");
}

}  // namespace

void ReadContext::fail(const std::string& expected, const Json& found) {
  fail_text("expected " + expected + ", found " + found.type_name());
}

void ReadContext::fail_text(std::string problem) {
  if (problem_.empty()) problem_ = std::move(problem);
}

Error ReadContext::error(std::string_view what) const {
  std::string message(what);
  message += ": ";
  for (size_t i = 0; i < path_.size(); ++i) {
    if (i > 0) message += '.';
    message += path_[i];
  }
  if (!path_.empty()) message += ": ";
  return Error{ErrorKind::kInvalid, message + problem_};
}

void read(ReadContext& context, const Json& json, bool& value) {
  if (!json.is_boolean()) return context.fail("true or false", json);
  value = json.get<bool>();
}
void read(ReadContext& context, const Json& json, int& value) { read_integer(context, json, value); }
void read(ReadContext& context, const Json& json, int64_t& value) { read_integer(context, json, value); }
void read(ReadContext& context, const Json& json, uint64_t& value) { read_integer(context, json, value); }

void read(ReadContext& context, const Json& json, std::string& value) {
  if (!json.is_string()) return context.fail("a string", json);
  value = json.get_ref<const std::string&>();
}

void read(ReadContext& context, const Json& json, JobId& value) {
  if (!json.is_string()) return context.fail("a job id", json);
  const auto& text = json.get_ref<const std::string&>();
  const auto id = JobId::parse(text);
  if (!id) return context.fail_text("'" + text + "' is not a job id (8-4-4-4-12 hex digits)");
  value = *id;
}

void read(ReadContext& context, const Json& json, AttemptId& value) {
  if (!json.is_string()) return context.fail("an attempt id", json);
  const std::string_view text = json.get_ref<const std::string&>();
  const auto slash = text.find('/');
  const auto job = JobId::parse(text.substr(0, slash));
  int number = 0;
  const char* const end = text.data() + text.size();
  bool good = slash != std::string_view::npos && job.has_value();
  if (good) {
    const auto parsed = std::from_chars(text.data() + slash + 1, end, number);
    good = parsed.ec == std::errc() && parsed.ptr == end;
  }
  if (!good) return context.fail_text("'" + std::string(text) + "' is not an attempt id (<job id>/<number>)");
  value = AttemptId{*job, number};
}

void read(ReadContext& context, const Json& json, InstanceId& value) {
  if (!json.is_string()) return context.fail("an instance id", json);
  const std::string_view text = json.get_ref<const std::string&>();
  const char* const end = text.data() + text.size();
  uint64_t number = 0;
  bool good = text.starts_with("i-") && text.size() == 19;
  if (good) {
    const auto parsed = std::from_chars(text.data() + 2, end, number, 16);
    good = parsed.ec == std::errc() && parsed.ptr == end;
  }
  if (!good) return context.fail_text("'" + std::string(text) + "' is not an instance id (i- and 17 hex digits)");
  value = InstanceId{number};
}

void read(ReadContext& context, const Json& json, Tags& value) {
  if (!json.is_object()) return context.fail("an object", json);
  value.clear();
  for (const auto& [key, item] : json.items()) read(context, item, value[key]);
}

void read(ReadContext& context, const Json& json, EnvironmentVariables& value) {
  if (!json.is_array()) return context.fail("a list of pairs", json);
  value.clear();
  value.reserve(json.size());
  for (const Json& item : json) {
    if (!item.is_array() || item.size() != 2) return context.fail("a pair of name and value", item);
    auto& [name, text] = value.emplace_back();
    read(context, item[0], name);
    read(context, item[1], text);
  }
}

}  // namespace teson::codec
