#include "domain/array.h"

namespace teson {

StatusSummary summary_of(const ArrayProgress& progress) {
  int counts[256] = {};
  for (const char letter : progress.children) ++counts[static_cast<unsigned char>(letter)];
  return {.pending = counts[child::kPending],
          .runnable = counts[child::kRunnable],
          .starting = counts[child::kStarting],
          .running = counts[child::kRunning],
          .succeeded = counts[child::kSucceeded],
          .failed = counts[child::kFailed]};
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
