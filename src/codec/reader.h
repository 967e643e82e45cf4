// Reads described values (fields.h) out of parsed JSON. The first thing that is wrong is kept with its path; unknown
// members are ignored and absent ones keep the value's default, so that older and newer texts load.
#pragma once

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "codec/fields.h"

namespace teson::codec {

using Json = nlohmann::json;

// Where the reader is, and what went wrong first.
class ReadContext {
 public:
  bool failed() const { return !problem_.empty(); }
  void fail(const std::string& expected, const Json& found);
  void fail_text(std::string problem);
  // "job_submitted: body.spec.priority: expected an integer, found a string"
  Error error(std::string_view what) const;

  void enter(std::string_view key) { path_.push_back(key); }
  void leave() { path_.pop_back(); }

 private:
  std::vector<std::string_view> path_;
  std::string problem_;
};

class ObjectReader {
 public:
  ObjectReader(ReadContext& context, const Json& object) : context_(context), object_(object) {}

  template <class T>
  void operator()(std::string_view key, T& value);
  template <class T>
  void required(std::string_view key, T& value);

 private:
  ReadContext& context_;
  const Json& object_;
};

void read(ReadContext& context, const Json& json, bool& value);
void read(ReadContext& context, const Json& json, int& value);
void read(ReadContext& context, const Json& json, int64_t& value);
void read(ReadContext& context, const Json& json, uint64_t& value);
void read(ReadContext& context, const Json& json, std::string& value);
void read(ReadContext& context, const Json& json, JobId& value);
void read(ReadContext& context, const Json& json, AttemptId& value);
void read(ReadContext& context, const Json& json, InstanceId& value);
void read(ReadContext& context, const Json& json, Tags& value);
void read(ReadContext& context, const Json& json, EnvironmentVariables& value);
inline void read(ReadContext& context, const Json& json, Instant& value) { read(context, json, value.micros); }
inline void read(ReadContext& context, const Json& json, Duration& value) { read(context, json, value.micros); }
inline void read(ReadContext& context, const Json& json, Money& value) { read(context, json, value.micro_usd); }

template <class E>
  requires std::is_enum_v<E>
void read(ReadContext& context, const Json& json, E& value) {
  if (!json.is_string()) return context.fail("a word", json);
  const auto& text = json.get_ref<const std::string&>();
  std::string known;
  for (const auto& word : kWords<E>) {
    if (word.text == text) {
      value = word.value;
      return;
    }
    known += known.empty() ? "" : ", ";
    known += word.text;
  }
  context.fail_text("'" + text + "' is not one of: " + known);
}

template <class T>
  requires std::is_aggregate_v<T>
void read(ReadContext& context, const Json& json, T& value);
template <class... Ts>
void read(ReadContext& context, const Json& json, std::variant<Ts...>& value);

template <class T>
void read(ReadContext& context, const Json& json, std::optional<T>& value) {
  read(context, json, value.emplace());
}
template <class T>
void read(ReadContext& context, const Json& json, std::vector<T>& list) {
  if (!json.is_array()) return context.fail("a list", json);
  list.clear();
  list.reserve(json.size());
  for (const Json& item : json) read(context, item, list.emplace_back());
}
template <class T>
void read(ReadContext& context, const Json& json, std::set<T>& list) {
  if (!json.is_array()) return context.fail("a list", json);
  list.clear();
  for (const Json& item : json) {
    T element{};
    read(context, item, element);
    list.insert(std::move(element));
  }
}

template <class T>
  requires std::is_aggregate_v<T>
void read(ReadContext& context, const Json& json, T& value) {
  if (!json.is_object()) return context.fail("an object", json);
  ObjectReader object(context, json);
  fields(object, value);
}

// Makes the alternative whose name is `kind` and reads it from `json`; false if there is no such name.
template <class Variant, size_t... I>
bool read_alternative(ReadContext& context, std::string_view kind, const Json& json, Variant& value,
                      std::index_sequence<I...>) {
  const auto try_one = [&]<class T>(std::type_identity<T>) {
    if (kKind<T> != kind) return false;
    read(context, json, value.template emplace<T>());
    return true;
  };
  return (try_one(std::type_identity<std::variant_alternative_t<I, Variant>>()) || ...);
}
template <class... Ts>
bool read_alternative(ReadContext& context, std::string_view kind, const Json& json, std::variant<Ts...>& value) {
  return read_alternative(context, kind, json, value, std::index_sequence_for<Ts...>());
}

template <class... Ts>
void read(ReadContext& context, const Json& json, std::variant<Ts...>& value) {
  std::string kind;
  if (!json.is_object()) return context.fail("an object", json);
  ObjectReader(context, json).required("is", kind);
  if (context.failed()) return;
  if (!read_alternative(context, kind, json, value)) context.fail_text("'" + kind + "' is not a known state");
}

template <class T>
void ObjectReader::operator()(std::string_view key, T& value) {
  if (context_.failed()) return;
  const auto found = object_.find(key);
  if (found == object_.end()) return;
  context_.enter(key);
  read(context_, *found, value);
  if (!context_.failed()) context_.leave();  // a failure keeps its path
}

template <class T>
void ObjectReader::required(std::string_view key, T& value) {
  if (context_.failed()) return;
  if (!object_.contains(key)) return context_.fail_text("has no member '" + std::string(key) + "'");
  (*this)(key, value);
}

}  // namespace teson::codec
