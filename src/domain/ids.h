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

struct JobId {
  Uuid uuid;

  constexpr auto operator<=>(const JobId&) const = default;
  std::string text() const { return uuid.text(); }
  static std::optional<JobId> parse(std::string_view text);
};

// One try of one job. Numbers count from 1, as AWS_BATCH_JOB_ATTEMPT does.
struct AttemptId {
  JobId job;
  int number = 0;

  constexpr auto operator<=>(const AttemptId&) const = default;
  // "<job>/<number>": also the attempt's directory below <data>/attempts.
  std::string text() const;
};

// A virtual or real machine that jobs are packed on: "i-" and 17 hex digits, as on EC2.
struct InstanceId {
  uint64_t value = 0;

  constexpr auto operator<=>(const InstanceId&) const = default;
  std::string text() const;
};

}  // namespace teson

template <>
struct std::hash<teson::JobId> {
  size_t operator()(const teson::JobId& id) const noexcept { return std::hash<teson::Uuid>()(id.uuid); }
};
