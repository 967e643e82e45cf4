// The rules of arrays, written a second time: here every child has a record from the start.
#include <algorithm>

#include "sim/ledger.h"

namespace teson::sim {

// What `id` became lets a job go on that waits for it.
bool Ledger::lets_pass(const JobRecord& waiting, const JobId& id) const {
  return succeeded(id) || (waiting.spec.after_any && failed(id));
}

void Ledger::submit_children(const JobId& id, const JobRecord& array, bool fails_as_a_whole) {
  const ArraySpec spec = *array.spec.array;
  std::vector<JobId> doomed;
  for (int i = 0; i < spec.size; ++i) {
    if (!spec.only.empty() && std::ranges::find(spec.only, i) == spec.only.end()) continue;
    JobRecord child;
    child.order = array.order + 1 + static_cast<uint64_t>(i);
    child.spec = array.spec;
    child.spec.array.reset();
    child.phase = JobRecord::Phase::kPending;
    jobs_.emplace(id.child(i), std::move(child));
    ++jobs_.at(id).unfinished;
    for (const JobId& other : spec.n_to_n) {
      if (failed(other.child(i)) && !array.spec.after_any && !fails_as_a_whole) doomed.push_back(id.child(i));
    }
  }
  for (const JobId& other : spec.n_to_n) jobs_.at(other).followers.push_back(id);
  for (const JobId& child : doomed) doom(child);
}

std::optional<JobId> Ledger::neighbour(const JobId& id, int step) const {
  const int size = jobs_.at(id.parent()).spec.array->size;
  for (int i = id.index + step; i >= 0 && i < size; i += step) {
    if (jobs_.contains(id.child(i))) return id.child(i);
  }
  return std::nullopt;
}

// But for the throttle.
bool Ledger::child_may_run(const JobId& id) const {
  const JobRecord& array = jobs_.at(id.parent());
  if (!array.ready || array.stop_asked || array.finished()) return false;
  const ArraySpec& spec = *array.spec.array;
  const auto before = spec.sequential ? neighbour(id, -1) : std::nullopt;
  if (before && !lets_pass(array, *before)) return false;
  return std::ranges::all_of(spec.n_to_n, [&](const JobId& other) {
    return !jobs_.contains(other.child(id.index)) || lets_pass(array, other.child(id.index));
  });
}

// Fails unless it had an attempt or has ended.
void Ledger::doom(const JobId& id) {
  const auto found = jobs_.find(id);
  if (found != jobs_.end() && !found->second.begun() && !found->second.finished()) finish(id, found->second, false);
}

void Ledger::settle_ends() {
  for (size_t i = 0; i < ended_children_.size(); ++i) {
    const JobId id = ended_children_[i];
    JobRecord& array = jobs_.at(id.parent());
    if (failed(id) && array.spec.array->sequential && !array.spec.after_any) {
      if (const auto next = neighbour(id, 1)) doom(*next);
    }
    for (const JobId& follower : array.followers) {
      if (failed(id) && !jobs_.at(follower).spec.after_any) doom(follower.child(id.index));
    }
    if (--array.unfinished > 0) continue;
    bool all = true;
    for (int k = 0; k < array.spec.array->size; ++k) all = all && !failed(id.child(k));
    touched_.push_back(id.parent());
    finish(id.parent(), array, all);
  }
  ended_children_.clear();
}

void Ledger::compare_children(const Job& job) const {
  const JobRecord& array = jobs_.at(job.id);
  SIM_REQUIRE(job.array && std::ssize(job.array->children) == array.spec.array->size,
              "array {} shows another number of children than it was submitted with", job.id.text());
  int live = 0;
  for (int i = 0; i < array.spec.array->size; ++i) {
    const JobId id = job.id.child(i);
    const JobRecord* record = find(id);
    char expected = child::kAbsent;
    if (record) {
      const bool waits = record->phase == JobRecord::Phase::kPending;
      constexpr char kLetters[] = {child::kPending, child::kRunnable,  child::kStarting,
                                   child::kRunning, child::kSucceeded, child::kFailed};
      expected = waits && !array.stop_asked && child_may_run(id) ? child::kRunnable
                                                                 : kLetters[static_cast<size_t>(record->phase)];
      live += record->live && !record->live->behind ? 1 : 0;
    }
    const char shown = job.array->children[static_cast<size_t>(i)];
    SIM_REQUIRE(shown == expected, "child {} is shown as '{}', its facts say '{}'", id.text(), shown, expected);
    const bool told = failure_of(*job.array, i) != nullptr;
    SIM_REQUIRE(shown != child::kFailed || record->begun() || told, "child {} failed and nothing says why", id.text());
  }
  SIM_REQUIRE(array.spec.array->throttle == 0 || array.throttle_changed || live <= array.spec.array->throttle,
              "array {} runs {} children at once, its throttle is {}", job.id.text(), live, array.spec.array->throttle);
}

}  // namespace teson::sim
