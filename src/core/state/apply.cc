// What each fact does to the state: the one transition table (docs/life-of-a-job.md).
#include <utility>

#include "base/check.h"
#include "core/state/state.h"

namespace teson {

void State::apply(const Fact& fact) {
  now_ = fact.at;
  last_fact_at_ = fact.at;
  interrupting_.reset();
  std::visit([this](const auto& body) { on(body); }, fact.body);
  settle_child_ends();
  if (!limited_queues_.empty()) watch_heads();
}

void State::on(const fact::EnvironmentPut& f) {
  environments_.insert_or_assign(f.value.name, f.value);
  review_queues_of(f.value.name);
}

void State::on(const fact::EnvironmentDeleted& f) {
  TESON_CHECK(environments_.erase(f.name) == 1, "an environment is deleted that is not there");
  review_queues_of(f.name);
}

void State::on(const fact::QueuePut& f) {
  QueueState& queue = queues_[f.value.name];
  queue.value = f.value;
  order_queues();
  review_queue(queue);
}

void State::on(const fact::QueueDeleted& f) {
  const auto found = queues_.find(f.name);
  TESON_CHECK(found != queues_.end() && found->second.jobs.empty(), "a queue is deleted that is absent or not empty");
  queues_.erase(found);
  order_queues();
}

void State::on(const fact::DefinitionPut& f) { definitions_[f.value.name].insert_or_assign(f.value.revision, f.value); }

void State::on(const fact::JobSubmitted& f) {
  const auto [at, fresh] = jobs_.try_emplace(f.id);
  TESON_CHECK(fresh, "a job is submitted twice under one id");
  Job& job = at->second;
  job.id = f.id;
  job.order = next_order_;
  // Each child has a number too: the array's place in the queue is that of its first runnable child.
  next_order_ += 1 + (f.spec.array ? static_cast<uint64_t>(f.spec.array->size) : 0);
  job.spec = f.spec;
  if (f.spec.array) job.array = fresh_progress(*f.spec.array);
  job.created = now_;
  job.state = job_state::Pending{{f.waiting_for.begin(), f.waiting_for.end()}};
  if (f.waiting_for.empty()) {
    QueueState& queue = queue_of(job);
    queue.jobs.emplace(job.order, f.id);
    ++queue.pending;
    note_asker(job);
    if (job.array) watch_counterparts(job);
    make_runnable(job);
  } else {
    index_job(job);
  }
  for (const int index : f.doomed_children) fail_waiting_child(job, index, "Dependent job failed");
}

void State::on(const fact::JobTagged& f) {
  Job& job = known_job(f.id);
  job.spec.tags = f.tags;
  if (!f.throttle || !job.array) return;
  job.spec.array->throttle = *f.throttle;
  list_first_child(job);
}

void State::on(const fact::JobReady& f) {
  Job& job = known_job(f.id);
  const auto* pending = std::get_if<job_state::Pending>(&job.state);
  TESON_CHECK(pending && pending->waiting_for.empty(), "a job becomes ready that still waits or never did");
  ready_dependents_.erase(f.id);
  make_runnable(job);
}

void State::on(const fact::InstanceStarted& f) {
  const auto [at, fresh] = instances_.emplace(f.value.id, InstanceState{f.value, {}, 0, now_});
  TESON_CHECK(fresh, "an instance starts twice");
  index_instance(at->second);
  ++instances_started_;
}

void State::on(const fact::InstanceEnded& f) {
  const auto found = instances_.find(f.id);
  TESON_CHECK(found != instances_.end() && found->second.attempts == 0, "an instance ends that is absent or in use");
  EnvironmentInstances& index = instances_by_environment_.at(found->second.value.environment);
  index.milli_vcpus -= found->second.value.size.milli_vcpus;
  std::erase(index.by_id, &found->second);
  if (index.by_id.empty()) instances_by_environment_.erase(found->second.value.environment);
  interrupted_.erase(f.id);
  instances_.erase(found);
}

void State::on(const fact::AttemptPlaced& f) {
  Job& job = job_to_place(f.id);
  TESON_CHECK(std::holds_alternative<job_state::Runnable>(job.state), "an attempt is placed for a job not runnable");
  TESON_CHECK(f.attempt.number == std::ssize(job.past) + 1, "attempt numbers must follow each other");
  TESON_CHECK(!interrupted_.contains(f.attempt.instance), "an attempt is placed on an instance that is taken back");
  QueueState& queue = queue_of(job);
  unlist(queue, job.order, job.spec);
  if (!f.attempt.behind) charge_share(queue, job.spec, f.attempt.allocated.milli_vcpus);
  occupy(f.id, f.attempt);
  take_consumables(job.spec);
  if (!f.attempt.behind) keep_promise(f.id);
  job.status_reason.clear();
  job.state = job_state::Starting{f.attempt};
  if (f.id.is_child()) set_letter(known_job(f.id.parent()), f.id.index, child::kStarting);
}

// It has its place: what still is to come is nobody's, an array's next child has a need of its own.
void State::keep_promise(const JobId& placed) {
  for (const InstanceId& id : interrupted_) {
    auto& owner = instances_.at(id).value.interruption->for_job;
    if (owner && *owner == placed.parent()) owner.reset();
  }
}

void State::on(const fact::AttemptStarted& f) {
  Job& job = known_job(f.id.job);
  auto* starting = std::get_if<job_state::Starting>(&job.state);
  TESON_CHECK(starting && starting->attempt.number == f.id.number, "an attempt starts that is not starting");
  Attempt attempt = std::move(starting->attempt);
  attempt.started = f.started;
  attempt.log_stream = f.log_stream;
  job.state = job_state::Running{std::move(attempt)};
  if (f.id.job.is_child()) set_letter(known_job(f.id.job.parent()), f.id.job.index, child::kRunning);
}

void State::on(const fact::AttemptEnded& f) {
  Job& job = known_job(f.id.job);
  Attempt* live = live_attempt(job);
  TESON_CHECK(live && live->number == f.id.number, "an attempt ends that is not live");
  const auto successor = vacate(f.id.job, *live);
  if (!live->behind) charge_share(queue_of(job), job.spec, -live->allocated.milli_vcpus);
  if (successor) charge_share(queue_of(job), known_job(*successor).spec, live->allocated.milli_vcpus);
  if (f.id.job.is_child()) note_pace(f.id.job, f.end);
  return_consumables(job.spec, live->started.has_value());
  Attempt attempt = std::move(*live);
  attempt.end = f.end;
  job.past.push_back(std::move(attempt));
  job.status_reason = f.status_reason;
  switch (f.verdict) {
    case fact::Verdict::kRetry:
      make_runnable(job);
      if (job.id.is_child()) set_letter(known_job(job.id.parent()), job.id.index, child::kRunnable);
      break;
    case fact::Verdict::kSucceeded:
      finish(job, job_state::Succeeded{f.end.ended});
      break;
    case fact::Verdict::kFailed:
      finish(job, job_state::Failed{f.end.ended});
      break;
  }
}

void State::on(const fact::StopRequested& f) {
  Job& job = known_job(f.id);
  job.stop = f.request;
  if (job.array) list_first_child(job);
}

void State::on(const fact::JobFailed& f) {
  Job& job = known_job(f.id);
  TESON_CHECK(!live_attempt(job), "a job with a live attempt is failed without the attempt's end");
  job.status_reason = f.status_reason;
  if (!job.array) return finish(job, job_state::Failed{now_});
  // Its dependency failed, so no child ever began.
  for (int index = 0; index < job.spec.array->size; ++index) fail_waiting_child(job, index, f.status_reason);
}

void State::on(const fact::ChildrenFailed& f) {
  Job& array = known_job(f.id);
  TESON_CHECK(array.array && 0 <= f.first && f.first <= f.last && f.last < array.spec.array->size,
              "children fail that the array does not have");
  for (int index = f.first; index <= f.last; ++index) fail_waiting_child(array, index, f.status_reason);
}

void State::on(const fact::PolicyPut& f) { policies_.insert_or_assign(f.value.name, f.value); }

void State::on(const fact::PolicyDeleted& f) {
  TESON_CHECK(policies_.erase(f.name) == 1, "a scheduling policy is deleted that is not there");
}

void State::on(const fact::InstanceInterrupted& f) {
  const auto found = instances_.find(f.id);
  TESON_CHECK(found != instances_.end(), "an instance is interrupted that is not there");
  found->second.value.interruption = Interruption{now_, f.until, f.reason, f.for_job};
  interrupted_.insert(f.id);
  interrupting_ = f.for_job;
}

}  // namespace teson
