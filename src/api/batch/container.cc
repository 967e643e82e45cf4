#include "api/batch/container.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <unordered_map>

#include "base/try.h"

namespace teson::batch {
namespace {

constexpr int64_t kMinMemoryMib = 4;
constexpr size_t kMaxImage = 255;
constexpr std::string_view kReserved = "AWS_BATCH";

// Members that are read here; all others are kept.
constexpr std::array<const char*, 6> kRead = {"image", "command", "environment", "resourceRequirements",
                                              "vcpus", "memory"};

std::optional<int64_t> parse_whole(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Whole numbers (also "2.0"), or 0.25 and 0.5 as Fargate has them.
std::optional<int64_t> parse_milli_vcpus(std::string_view text) {
  if (text == "0.25" || text == ".25") return 250;
  if (text == "0.5" || text == ".5" || text == "0.50") return 500;
  const size_t point = text.find('.');
  if (point != std::string_view::npos) {
    const std::string_view fraction = text.substr(point + 1);
    if (fraction.empty() || fraction.find_first_not_of('0') != std::string_view::npos) return std::nullopt;
  }
  const auto whole = parse_whole(text.substr(0, point));
  if (!whole || *whole < 1 || *whole > INT32_MAX) return std::nullopt;
  return *whole * 1000;
}

Status add_requirement(const JsonValue& entry, ResourceAsk& ask) {
  TESON_TRY(const std::string type, wire::required_enum(entry, "type", {"VCPU", "MEMORY", "GPU"}));
  TESON_TRY(const JsonValue value, wire::required_field(entry, "value"));
  TESON_TRY(const std::string text, value.as_string());
  std::optional<int64_t>& slot = type == "VCPU" ? ask.milli_vcpus : type == "MEMORY" ? ask.memory_mib : ask.gpus;
  if (slot) return invalid(fmt::format("'{}': {} is given twice", entry.path(), type));
  if (type == "VCPU") {
    slot = parse_milli_vcpus(text);
    if (!slot) return value.refuse("VCPU must be a whole number from 1, or 0.25 or 0.5");
    return {};
  }
  slot = parse_whole(text);
  const int64_t least = type == "MEMORY" ? kMinMemoryMib : 1;
  if (!slot || *slot < least || *slot > INT32_MAX) {
    return value.refuse(type == "MEMORY" ? "MEMORY must be a whole number of MiB, at least 4"
                                         : "GPU must be a whole number, at least 1; leave it out for none");
  }
  return {};
}

Status parse_resources(const JsonValue& object, ContainerAsk& ask) {
  TESON_TRY(const auto listed, wire::optional_object_array(object, "resourceRequirements"));
  for (const JsonValue& entry : listed) TESON_TRY_STATUS(add_requirement(entry, ask.listed));
  TESON_TRY(const auto vcpus, wire::optional_int(object, "vcpus", {1, INT32_MAX}));
  if (vcpus) ask.legacy.milli_vcpus = *vcpus * 1000;
  TESON_TRY(ask.legacy.memory_mib, wire::optional_int(object, "memory", {kMinMemoryMib, INT32_MAX}));
  return {};
}

Status add_variable(const JsonValue& entry, EnvironmentVariables& out) {
  TESON_TRY(std::string name, wire::required_string(entry, "name"));
  TESON_TRY(auto value, wire::optional_string(entry, "value"));
  if (name.starts_with(kReserved)) {
    return invalid(
        fmt::format("'{}': the environment variable {} begins with {}, which is reserved for what Batch sets",
                    entry.path(), in_quotes(name), kReserved));
  }
  if (name.find('=') != std::string::npos || name.find('\0') != std::string::npos) {
    return invalid(fmt::format("'{}': the name {} must not hold '=' or NUL", entry.path(), in_quotes(name)));
  }
  if (value && value->find('\0') != std::string::npos) {
    return invalid(fmt::format("'{}': the value of {} must not hold NUL", entry.path(), in_quotes(name)));
  }
  out.emplace_back(std::move(name), value.value_or(""));
  return {};
}

Result<ContainerAsk> parse_ask(const JsonValue& object) {
  ContainerAsk ask;
  TESON_TRY(ask.command, wire::optional_string_array(object, "command"));
  for (size_t i = 0; i < ask.command.size(); ++i) {
    if (ask.command[i].find('\0') != std::string::npos) {
      return invalid(
          fmt::format("'{}.command[{}]' holds a NUL character, which no argument can carry", object.path(), i));
    }
  }
  TESON_TRY(const auto variables, wire::optional_object_array(object, "environment"));
  EnvironmentVariables environment;
  for (const JsonValue& entry : variables) TESON_TRY_STATUS(add_variable(entry, environment));
  ask.environment = merged_environment({}, environment);
  TESON_TRY_STATUS(parse_resources(object, ask));
  return ask;
}

Result<std::string> parse_image(const JsonValue& object) {
  TESON_TRY(std::string image, wire::required_string(object, "image", kMaxImage));
  const bool good = std::all_of(image.begin(), image.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("-_:./#@+").find(c) != std::string_view::npos;
  });
  if (good) return image;
  return invalid(fmt::format("Value {} at '{}.image' is no image name: it may hold letters, digits and - _ : . / # @ +",
                             in_quotes(image), object.path()));
}

Status check_both_given(const JsonValue& object, const ContainerAsk& ask) {
  const auto missing = [&](const char* type, const char* example) {
    return invalid(fmt::format("'{}.resourceRequirements' names no {}: add {{\"type\": \"{}\", \"value\": \"{}\"}}",
                               object.path(), type, type, example));
  };
  if (!ask.listed.milli_vcpus && !ask.legacy.milli_vcpus) return missing("VCPU", "1");
  if (!ask.listed.memory_mib && !ask.legacy.memory_mib) return missing("MEMORY", "2048");
  if (ask.listed.milli_vcpus && ask.legacy.milli_vcpus) {
    return invalid(
        fmt::format("'{}.vcpus' and a resourceRequirements entry VCPU are both given: leave vcpus out", object.path()));
  }
  if (ask.listed.memory_mib && ask.legacy.memory_mib) {
    return invalid(fmt::format("'{}.memory' and a resourceRequirements entry MEMORY are both given: leave memory out",
                               object.path()));
  }
  return {};
}

int64_t first_given(std::initializer_list<std::optional<int64_t>> values) {
  for (const auto& value : values) {
    if (value) return *value;
  }
  return 0;
}

}  // namespace

Result<ContainerProperties> parse_container_properties(const JsonValue& value) {
  ContainerProperties out;
  TESON_TRY(out.image, parse_image(value));
  TESON_TRY(out.ask, parse_ask(value));
  TESON_TRY_STATUS(check_both_given(value, out.ask));
  for (const auto& [name, member] : value.json().items()) {
    const bool read = std::any_of(kRead.begin(), kRead.end(), [&](const char* known) { return name == known; });
    if (!read && !member.is_null()) out.rest[name] = member;
  }
  return out;
}

Result<ContainerAsk> parse_container_overrides(const JsonValue& value) { return parse_ask(value); }

EnvironmentVariables merged_environment(const EnvironmentVariables& base, const EnvironmentVariables& overrides) {
  EnvironmentVariables out = base;
  std::unordered_map<std::string, size_t> places;
  for (size_t i = 0; i < out.size(); ++i) places.emplace(out[i].first, i);
  for (const auto& [name, value] : overrides) {
    const auto [at, is_new] = places.emplace(name, out.size());
    if (is_new) {
      out.emplace_back(name, value);
    } else {
      out[at->second].second = value;
    }
  }
  return out;
}

Resources merged_resources(const ContainerAsk& definition, const ContainerAsk& overrides) {
  return {first_given({overrides.listed.milli_vcpus, definition.listed.milli_vcpus, overrides.legacy.milli_vcpus,
                       definition.legacy.milli_vcpus}),
          first_given({overrides.listed.memory_mib, definition.listed.memory_mib, overrides.legacy.memory_mib,
                       definition.legacy.memory_mib}),
          first_given({overrides.listed.gpus, definition.listed.gpus})};
}

std::vector<std::string> substituted(const std::vector<std::string>& command, const Parameters& parameters) {
  constexpr std::string_view kRef = "Ref::";
  std::vector<std::string> out = command;
  for (std::string& argument : out) {
    if (!argument.starts_with(kRef)) continue;
    if (const auto at = parameters.find(argument.substr(kRef.size())); at != parameters.end()) argument = at->second;
  }
  return out;
}

Json requirements_json(const Resources& resources) {
  Json out = Json::array();
  out.push_back({{"type", "VCPU"}, {"value", vcpus_text(resources.milli_vcpus)}});
  out.push_back({{"type", "MEMORY"}, {"value", std::to_string(resources.memory_mib)}});
  if (resources.gpus > 0) out.push_back({{"type", "GPU"}, {"value", std::to_string(resources.gpus)}});
  return out;
}

}  // namespace teson::batch
