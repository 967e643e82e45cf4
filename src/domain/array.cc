#include "domain/array.h"

#include <algorithm>

namespace teson {

StatusSummary summary_of(const ArrayProgress& progress) {
  const auto count = [&](char letter) {
    return static_cast<int>(std::count(progress.children.begin(), progress.children.end(), letter));
  };
  return {.pending = count(child::kPending),
          .runnable = count(child::kRunnable),
          .starting = count(child::kStarting),
          .running = count(child::kRunning),
          .succeeded = count(child::kSucceeded),
          .failed = count(child::kFailed)};
}

ArrayProgress fresh_progress(const ArraySpec& spec) {
  ArrayProgress progress;
  progress.children.assign(static_cast<size_t>(spec.size), spec.only.empty() ? child::kPending : child::kAbsent);
  for (const int index : spec.only) progress.children[static_cast<size_t>(index)] = child::kPending;
  return progress;
}

const ChildrenFailure* failure_of(const ArrayProgress& progress, int index) {
  for (const ChildrenFailure& failure : progress.failures) {
    if (failure.first <= index && index <= failure.last) return &failure;
  }
  return nullptr;
}

const char* child_status_name(char letter) {
  switch (letter) {
    case child::kPending:
      return "PENDING";
    case child::kRunnable:
      return "RUNNABLE";
    case child::kStarting:
      return "STARTING";
    case child::kRunning:
      return "RUNNING";
    case child::kSucceeded:
      return "SUCCEEDED";
    case child::kFailed:
      return "FAILED";
    default:
      return nullptr;
  }
}

}  // namespace teson
