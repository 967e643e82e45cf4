// HTTP header fields in the order they came, names compared without case. A plain value.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teson::wire {

struct Header {
  std::string name;
  std::string value;
};

bool equal_ignoring_case(std::string_view a, std::string_view b);
// ASCII only, as header names are.
std::string lower_case(std::string_view text);
// Without the spaces and tabs around it.
std::string_view trimmed(std::string_view text);

class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<Header> fields) : fields_(fields) {}

  // Adds a field, also if the name is there already.
  void add(std::string name, std::string value) { fields_.push_back({std::move(name), std::move(value)}); }
  // Replaces every field of that name.
  void set(std::string_view name, std::string value);
  void remove(std::string_view name);

  // The first of that name.
  std::optional<std::string_view> find(std::string_view name) const;
  // The first of that name, or "".
  std::string_view get(std::string_view name) const { return find(name).value_or(std::string_view()); }
  size_t count(std::string_view name) const;

  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }
  size_t size() const { return fields_.size(); }
  void clear() { fields_.clear(); }

 private:
  std::vector<Header> fields_;
};

}  // namespace teson::wire
