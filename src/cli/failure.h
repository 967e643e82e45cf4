// How a command ends when it cannot do what was asked. Exit codes are the AWS CLI's, so scripts need one table:
// 252 usage, 253 configuration, 254 the service said no, 255 anything else (130: interrupted).
// Source: AWS CLI user guide, "Command line return codes".
#pragma once

#include <expected>
#include <string>
#include <utility>

#include "base/result.h"

namespace teson::cli {

enum class FailureKind {
  kUsage,          // the command line is wrong
  kConfiguration,  // no keys, no data directory
  kService,        // the server answered with an error; `code` is its AWS error code
  kUnreachable,    // nothing answered, or something that is not our server
  kGeneral,
};

constexpr int kExitInterrupted = 130;

struct Failure {
  FailureKind kind = FailureKind::kGeneral;
  std::string message;  // complete: printed after "teson: "
  std::string code;
  // Asking again later may help: the server is away, starts, stops, or has too much to do. Else the answer stays.
  bool passing = false;
};

template <class T>
using Outcome = std::expected<T, Failure>;

constexpr int exit_code(FailureKind kind) {
  switch (kind) {
    case FailureKind::kUsage:
      return 252;
    case FailureKind::kConfiguration:
      return 253;
    case FailureKind::kService:
      return 254;
    case FailureKind::kUnreachable:
    case FailureKind::kGeneral:
      break;
  }
  return 255;
}

inline std::unexpected<Failure> failure(FailureKind kind, std::string message, std::string code = {}) {
  return std::unexpected(Failure{kind, std::move(message), std::move(code)});
}
inline std::unexpected<Failure> usage(std::string message) { return failure(FailureKind::kUsage, std::move(message)); }

}  // namespace teson::cli
