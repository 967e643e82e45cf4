// Writes described values (fields.h) as JSON text. Empty strings and containers and absent optionals are left out.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/check.h"
#include "codec/fields.h"
#include "codec/json_text.h"

namespace teson::codec {

class ObjectWriter {
 public:
  explicit ObjectWriter(std::string& out) : out_(out) { out_ += '{'; }
  void close() { out_ += '}'; }

  template <class T>
  void operator()(std::string_view key, const T& value);
  template <class T>
  void required(std::string_view key, const T& value);

 private:
  std::string& out_;
  bool first_ = true;
};

inline void write(std::string& out, bool value) { out += value ? "true" : "false"; }
template <std::integral T>
  requires(!std::same_as<T, bool>)
void write(std::string& out, T value) {
  append_json_integer(out, value);
}
inline void write(std::string& out, const std::string& value) { append_json_string(out, value); }
inline void write(std::string& out, Instant value) { append_json_integer(out, value.micros); }
inline void write(std::string& out, Duration value) { append_json_integer(out, value.micros); }
inline void write(std::string& out, Money value) { append_json_integer(out, value.micro_usd); }

inline void write_quoted(std::string& out, const std::string& plain) {
  out += '"';
  out += plain;
  out += '"';
}
inline void write(std::string& out, const JobId& id) { write_quoted(out, id.text()); }
inline void write(std::string& out, const AttemptId& id) { write_quoted(out, id.text()); }
inline void write(std::string& out, const InstanceId& id) { write_quoted(out, id.text()); }

template <class E>
  requires std::is_enum_v<E>
void write(std::string& out, E value) {
  for (const auto& word : kWords<E>) {
    if (word.value != value) continue;
    out += '"';
    out += word.text;
    out += '"';
    return;
  }
  TESON_CHECK(false, "an enum's value has no word in fields.h");
}

template <class T>
  requires std::is_aggregate_v<T>
void write(std::string& out, const T& value);
template <class... Ts>
void write(std::string& out, const std::variant<Ts...>& value);

template <class List>
void write_list(std::string& out, const List& list) {
  out += '[';
  bool first = true;
  for (const auto& item : list) {
    if (!first) out += ',';
    first = false;
    write(out, item);
  }
  out += ']';
}
template <class T>
void write(std::string& out, const std::vector<T>& list) {
  write_list(out, list);
}
template <class T>
void write(std::string& out, const std::set<T>& list) {
  write_list(out, list);
}
inline void write(std::string& out, const Tags& tags) {
  ObjectWriter object(out);
  for (const auto& [key, value] : tags) object.required(key, value);
  object.close();
}
// Order and repeated names matter in an environment: a list of pairs, not an object.
inline void write(std::string& out, const EnvironmentVariables& variables) {
  out += '[';
  bool first = true;
  for (const auto& [name, value] : variables) {
    out += first ? "[" : ",[";
    first = false;
    write(out, name);
    out += ',';
    write(out, value);
    out += ']';
  }
  out += ']';
}

template <class T>
  requires std::is_aggregate_v<T>
void write(std::string& out, const T& value) {
  ObjectWriter object(out);
  fields(object, value);
  object.close();
}

// {"is":"starting", and the alternative's own fields}
template <class... Ts>
void write(std::string& out, const std::variant<Ts...>& value) {
  std::visit(
      [&out]<class T>(const T& alternative) {
        ObjectWriter object(out);
        object.required("is", std::string(kKind<T>));
        fields(object, alternative);
        object.close();
      },
      value);
}

template <class T>
void ObjectWriter::required(std::string_view key, const T& value) {
  if (!first_) out_ += ',';
  first_ = false;
  append_json_string(out_, key);
  out_ += ':';
  write(out_, value);
}

template <class T>
constexpr bool kIsOptional = false;
template <class T>
constexpr bool kIsOptional<std::optional<T>> = true;

template <class T>
void ObjectWriter::operator()(std::string_view key, const T& value) {
  if constexpr (kIsOptional<T>) {
    if (value) required(key, *value);
  } else if constexpr (requires { value.empty(); }) {
    if (!value.empty()) required(key, value);
  } else {
    required(key, value);
  }
}

}  // namespace teson::codec
