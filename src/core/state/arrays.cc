// Arrays in the live state: which child may run, which stands in the queue, and what follows from a child's end.
//
// A child that never had an attempt is a letter of its array's progress. Ends are settled one after another from a list
// and not by recursion: a chain of arrays may be as long as its users like.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "core/state/state.h"

namespace teson {
namespace {

char letter_of(const Job& array, int index) { return array.array->children[static_cast<size_t>(index)]; }

// The child before this one that exists; -1 if there is none.
int predecessor(const Job& array, int index) {
  do --index;
  while (index >= 0 && letter_of(array, index) == child::kAbsent);
  return index;
}

int successor(const Job& array, int index) {
  const int size = array.spec.array->size;
  do ++index;
  while (index < size && letter_of(array, index) == child::kAbsent);
  return index;
}

bool lets_pass(char letter, bool after_any) {
  return letter == child::kSucceeded || letter == child::kAbsent || (after_any && letter == child::kFailed);
}

// All that follow fail for the one that failed first.
std::string reason_passed_on(const Job& array, int failed) {
  const ChildrenFailure* failure = failure_of(*array.array, failed);
  if (failure && failure->reason.starts_with(kDependentFailed)) return failure->reason;
  return kDependentFailed + array.id.child(failed).text();
}

bool is_live(char letter) { return letter == child::kStarting || letter == child::kRunning; }
bool is_waiting(char letter) { return letter == child::kPending || letter == child::kRunnable; }

}  // namespace

std::optional<char> State::child_letter(const JobId& id) const {
  const Job* array = id.is_child() ? job(id.parent()) : nullptr;
  if (!array || !array->array || id.index >= array->spec.array->size) return std::nullopt;
  return letter_of(*array, id.index);
}

bool State::is_unfinished(const JobId& id) const {
  if (jobs_.contains(id)) return true;
  const auto letter = child_letter(id);
  return letter && is_waiting(*letter);
}

// Makes the Job of a child whose first attempt this is.
Job& State::job_to_place(const JobId& id) {
  if (!id.is_child() || jobs_.contains(id)) return known_job(id);
  const Job& array = known_job(id.parent());
  TESON_CHECK(child_letter(id) == child::kRunnable, "an attempt is placed for a child that may not run");
  Job job = *unbegun_child(array, id.index);
  Job& made = jobs_.emplace(id, std::move(job)).first->second;
  queue_of(made).jobs.emplace(made.order, id);
  return made;
}

// N_TO_N: the arrays waited for tell of each child's end from now on.
void State::watch_counterparts(const Job& array) {
  const auto& letters = array.array->children;
  ArrayIndex& index = arrays_[array.id];
  index.unfinished = static_cast<int>(
      std::count_if(letters.begin(), letters.end(), [](char letter) { return is_waiting(letter) || is_live(letter); }));
  for (const JobId& other : array.spec.array->n_to_n) {
    if (jobs_.contains(other)) arrays_[other].counterparts.push_back(array.id);
  }
}

void State::spread(Job& array) {
  array.state = job_state::Spread{now_};
  for (int index = 0; index < array.spec.array->size; ++index) {
    if (letter_of(array, index) == child::kPending && may_run(array, index)) {
      array.array->children[static_cast<size_t>(index)] = child::kRunnable;
    }
  }
  list_first_child(array);
}

// After a snapshot was loaded: what the letters do not say.
void State::index_array(Job& array) { list_first_child(array); }

// An array that is gone has told of each of its children before it went.
bool State::may_run(const Job& array, int index) const {
  const ArraySpec& spec = *array.spec.array;
  if (spec.sequential) {
    const int before = predecessor(array, index);
    if (before >= 0 && !lets_pass(letter_of(array, before), array.spec.after_any)) return false;
  }
  return std::all_of(spec.n_to_n.begin(), spec.n_to_n.end(), [&](const JobId& other) {
    const auto letter = child_letter(other.child(index));
    return !letter || lets_pass(*letter, array.spec.after_any);
  });
}

void State::set_letter(Job& array, int index, char letter) {
  char& now = array.array->children[static_cast<size_t>(index)];
  ArrayIndex& runtime = arrays_.at(array.id);
  now = letter;
  if (letter == child::kRunnable) {
    runtime.no_runnable_below = std::min(runtime.no_runnable_below, static_cast<size_t>(index));
  }
  list_first_child(array);
}

void State::note_pace(const JobId& child, const AttemptEnd& end) {
  ArrayIndex& index = arrays_.at(child.parent());
  ++index.ended;
  index.run = index.run + end.usage.run;
}

State::Pace State::pace_of(const JobId& array) const {
  const ArrayIndex& index = arrays_.at(array);
  return {index.ended, index.run, &index.places};
}

// Only the first runnable child stands in the queue; none while as many run as may.
void State::list_first_child(Job& array) {
  ArrayIndex& runtime = arrays_.at(array.id);
  const int throttle = array.spec.array->throttle;
  const bool may_start = std::holds_alternative<job_state::Spread>(array.state) && !array.stop &&
                         (throttle == 0 || std::ssize(runtime.places) < throttle);
  std::optional<int> first;
  if (may_start) {
    const size_t found = array.array->children.find(child::kRunnable, runtime.no_runnable_below);
    runtime.no_runnable_below = std::min(found, array.array->children.size());
    if (found != std::string::npos) first = static_cast<int>(found);
  }
  if (first == runtime.listed) {
    // Placed meanwhile and runnable again: the queue no longer has it.
    const QueueState& queue = queue_of(array);
    const uint64_t order = array.order + 1 + static_cast<uint64_t>(first.value_or(0));
    if (!first || queue.ready.contains(order) || queue.held.contains(order)) return;
  }
  unlist_child(array);
  runtime.listed = first;
  if (first) list(queue_of(array), array.order + 1 + static_cast<uint64_t>(*first), array.id.child(*first), array.spec);
}

void State::unlist_child(Job& array) {
  ArrayIndex& runtime = arrays_.at(array.id);
  if (!runtime.listed) return;
  const uint64_t order = array.order + 1 + static_cast<uint64_t>(*runtime.listed);
  unlist(queue_of(array), order, array.spec);
  runtime.listed.reset();
}

// One that has had attempts fails by its own facts.
void State::fail_waiting_child(Job& array, int index, const std::string& reason) {
  if (!is_waiting(letter_of(array, index)) || jobs_.contains(array.id.child(index))) return;
  auto& failures = array.array->failures;
  const bool goes_on = !failures.empty() && failures.back().reason == reason && failures.back().at == now_ &&
                       successor(array, failures.back().last) == index;
  if (goes_on) {
    failures.back().last = index;
  } else {
    failures.push_back({index, index, reason, now_});
  }
  array.array->children[static_cast<size_t>(index)] = child::kFailed;
  release_dependents(array.id.child(index), array.spec.name, reason, false);
  child_ended(array.id.child(index), false);
}

void State::child_ended(const JobId& id, bool succeeded) { child_ends_.push_back({id, succeeded}); }

void State::settle_child_ends() {
  // Each may add more at the end.
  for (size_t i = 0; i < child_ends_.size(); ++i) {
    const auto [id, succeeded] = child_ends_[i];
    Job& array = known_job(id.parent());
    set_letter(array, id.index, succeeded ? child::kSucceeded : child::kFailed);
    settle_successor(array, id.index, succeeded);
    settle_counterparts(id, succeeded);
    if (--arrays_.at(array.id).unfinished == 0) finish_array(array);
  }
  child_ends_.clear();
}

void State::settle_successor(Job& array, int index, bool succeeded) {
  if (!array.spec.array->sequential) return;
  const int next = successor(array, index);
  if (next >= array.spec.array->size || letter_of(array, next) != child::kPending) return;
  if (!succeeded && !array.spec.after_any) {
    fail_waiting_child(array, next, reason_passed_on(array, index));
  } else if (std::holds_alternative<job_state::Spread>(array.state) && may_run(array, next)) {
    set_letter(array, next, child::kRunnable);
  }
}

void State::settle_counterparts(const JobId& ended, bool succeeded) {
  const std::vector<JobId> waiting = arrays_.at(ended.parent()).counterparts;
  for (const JobId& id : waiting) {
    const auto found = jobs_.find(id);
    if (found == jobs_.end()) continue;
    Job& array = found->second;
    if (letter_of(array, ended.index) != child::kPending) continue;
    if (!succeeded && !array.spec.after_any) {
      fail_waiting_child(array, ended.index, reason_passed_on(known_job(ended.parent()), ended.index));
    } else if (std::holds_alternative<job_state::Spread>(array.state) && may_run(array, ended.index)) {
      set_letter(array, ended.index, child::kRunnable);
    }
  }
}

void State::finish_array(Job& array) {
  const bool succeeded = array.array->children.find(child::kFailed) == std::string::npos;
  if (!succeeded && array.status_reason.empty()) {
    array.status_reason = array.stop ? array.stop->reason : "Array Child Job failed";
  }
  unlist_child(array);
  arrays_.erase(array.id);
  finish(array, succeeded ? JobState(job_state::Succeeded{now_}) : JobState(job_state::Failed{now_}));
}

}  // namespace teson
