#include "domain/job.h"

namespace teson {
namespace {

constexpr const char* kStatusNames[] = {"PENDING", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED", "PENDING"};
static_assert(std::size(kStatusNames) == std::variant_size_v<JobState>);

}  // namespace

JobSpec child_spec(const JobSpec& array) {
  JobSpec spec = array;
  spec.depends_on.clear();
  spec.array = ArraySpec{.size = array.array->size, .only = {}, .sequential = false, .n_to_n = {}, .throttle = 0};
  return spec;
}

std::optional<Job> unbegun_child(const Job& array, int index) {
  if (!array.array || index < 0 || index >= std::ssize(array.array->children)) return std::nullopt;
  const char letter = array.array->children[static_cast<size_t>(index)];
  Job job;
  if (letter == child::kPending) {
    job.state = job_state::Pending{};
  } else if (letter == child::kRunnable) {
    job.state = job_state::Runnable{};
  } else if (const ChildrenFailure* failure = failure_of(*array.array, index); failure && letter == child::kFailed) {
    job.state = job_state::Failed{failure->at};
    job.status_reason = failure->reason;
  } else {
    return std::nullopt;
  }
  job.id = array.id.child(index);
  job.order = array.order + 1 + static_cast<uint64_t>(index);
  job.spec = child_spec(array.spec);
  job.created = array.created;
  return job;
}

const Attempt* live_attempt(const Job& job) {
  if (const auto* starting = std::get_if<job_state::Starting>(&job.state)) return &starting->attempt;
  if (const auto* running = std::get_if<job_state::Running>(&job.state)) return &running->attempt;
  return nullptr;
}

Attempt* live_attempt(Job& job) { return const_cast<Attempt*>(live_attempt(std::as_const(job))); }

bool is_finished(const Job& job) {
  return std::holds_alternative<job_state::Succeeded>(job.state) ||
         std::holds_alternative<job_state::Failed>(job.state);
}

const char* status_name(const Job& job) { return kStatusNames[job.state.index()]; }

std::optional<Instant> started_at(const Job& job) {
  if (const Attempt* live = live_attempt(job)) return live->started;
  for (auto attempt = job.past.rbegin(); attempt != job.past.rend(); ++attempt) {
    if (attempt->started) return attempt->started;
  }
  return std::nullopt;
}

std::optional<Instant> stopped_at(const Job& job) {
  if (const auto* succeeded = std::get_if<job_state::Succeeded>(&job.state)) return succeeded->stopped;
  if (const auto* failed = std::get_if<job_state::Failed>(&job.state)) return failed->stopped;
  return std::nullopt;
}

}  // namespace teson
