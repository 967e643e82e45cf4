// What each fact does to the state: the one transition table (docs/life-of-a-job.md).
#include <utility>

#include "base/check.h"
#include "core/state/state.h"

namespace teson {

void State::apply(const Fact& fact) {
  now_ = fact.at;
  last_fact_at_ = fact.at;
  std::visit([this](const auto& body) { on(body); }, fact.body);
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
  job.order = next_order_++;
  job.spec = f.spec;
  job.created = now_;
  if (f.waiting_for.empty()) {
    job.state = job_state::Runnable{};
  } else {
    job.state = job_state::Pending{{f.waiting_for.begin(), f.waiting_for.end()}};
  }
  index_job(job);
}

void State::on(const fact::JobTagged& f) { known_job(f.id).spec.tags = f.tags; }

void State::on(const fact::JobReady& f) {
  Job& job = known_job(f.id);
  const auto* pending = std::get_if<job_state::Pending>(&job.state);
  TESON_CHECK(pending && pending->waiting_for.empty(), "a job becomes ready that still waits or never did");
  ready_dependents_.erase(f.id);
  make_runnable(job, queue_of(job));
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
  instances_.erase(found);
}

void State::on(const fact::AttemptPlaced& f) {
  Job& job = known_job(f.id);
  TESON_CHECK(std::holds_alternative<job_state::Runnable>(job.state), "an attempt is placed for a job not runnable");
  TESON_CHECK(f.attempt.number == std::ssize(job.past) + 1, "attempt numbers must follow each other");
  QueueState& queue = queue_of(job);
  queue.ready.erase(job.order);
  queue.held.erase(job.order);
  occupy(f.attempt);
  job.status_reason.clear();
  job.state = job_state::Starting{f.attempt};
}

void State::on(const fact::AttemptStarted& f) {
  Job& job = known_job(f.id.job);
  auto* starting = std::get_if<job_state::Starting>(&job.state);
  TESON_CHECK(starting && starting->attempt.number == f.id.number, "an attempt starts that is not starting");
  Attempt attempt = std::move(starting->attempt);
  attempt.started = f.started;
  attempt.log_stream = f.log_stream;
  job.state = job_state::Running{std::move(attempt)};
}

void State::on(const fact::AttemptEnded& f) {
  Job& job = known_job(f.id.job);
  Attempt* live = live_attempt(job);
  TESON_CHECK(live && live->number == f.id.number, "an attempt ends that is not live");
  vacate(*live);
  Attempt attempt = std::move(*live);
  attempt.end = f.end;
  job.past.push_back(std::move(attempt));
  job.status_reason = f.status_reason;
  switch (f.verdict) {
    case fact::Verdict::kRetry:
      make_runnable(job, queue_of(job));
      break;
    case fact::Verdict::kSucceeded:
      finish(job, job_state::Succeeded{f.end.ended});
      break;
    case fact::Verdict::kFailed:
      finish(job, job_state::Failed{f.end.ended});
      break;
  }
}

void State::on(const fact::StopRequested& f) { known_job(f.id).stop = f.request; }

void State::on(const fact::JobFailed& f) {
  Job& job = known_job(f.id);
  TESON_CHECK(!live_attempt(job), "a job with a live attempt is failed without the attempt's end");
  job.status_reason = f.status_reason;
  finish(job, job_state::Failed{now_});
}

}  // namespace teson
