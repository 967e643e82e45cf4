// Strong identifiers. Each has the text form that AWS clients see.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/uuid.h"

namespace teson {

// A job, an array job, or one child of an array job.
struct JobId {
  static constexpr int32_t kNoIndex = -1;
  static constexpr int32_t kLargestIndex = 9'999;

  Uuid uuid;
  int32_t index = kNoIndex;  // of an array's child

  constexpr auto operator<=>(const JobId&) const = default;
  bool is_child() const { return index != kNoIndex; }
  JobId parent() const { return {uuid}; }
  JobId child(int32_t child_index) const { return {uuid, child_index}; }

  // "<uuid>", and "<uuid>:<index>" for a child, as on AWS.
  std::string text() const;
  static std::optional<JobId> parse(std::string_view text);
  // "<uuid>.<index>": PATH-like variables and mounts read a colon as a separator.
  std::string directory_name() const;
  static std::optional<JobId> parse_directory_name(std::string_view name);
};

// One try of one job. Numbers count from 1, as AWS_BATCH_JOB_ATTEMPT does.
struct AttemptId {
  JobId job;
  int number = 0;

  constexpr auto operator<=>(const AttemptId&) const = default;
  // "<job>/<number>".
  std::string text() const;
};

// A virtual or real machine that jobs are packed on: "i-" and 17 hex digits, as on EC2.
struct InstanceId {
  uint64_t value = 0;

  constexpr auto operator<=>(const InstanceId&) const = default;
  // "i-" and 17 hexadecimal digits, as on AWS.
  std::string text() const;
  static std::optional<InstanceId> parse(std::string_view text);
};

}  // namespace teson

template <>
struct std::hash<teson::JobId> {
  size_t operator()(const teson::JobId& id) const noexcept {
    return std::hash<teson::Uuid>()(id.uuid) ^ static_cast<size_t>(id.index + 1) * 0x9E3779B97F4A7C15ULL;
  }
};
