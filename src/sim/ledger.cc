#include "sim/ledger.h"

#include <fmt/format.h>

#include <algorithm>

namespace teson::sim {
namespace {

constexpr const char* kPhases[] = {"PENDING", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED"};

const char* name_of(JobRecord::Phase phase) { return kPhases[static_cast<size_t>(phase)]; }

bool fits_pattern(const std::string& pattern, const std::string& text) {
  if (!pattern.empty() && pattern.back() == '*') return text.rfind(pattern.substr(0, pattern.size() - 1), 0) == 0;
  return pattern == text;
}

bool rule_applies(const RetryRule& rule, const AttemptEnd& end) {
  if (rule.on_exit_code) {
    if (end.cause == EndCause::kLost) return false;
    if (!end.exit_code || !fits_pattern(*rule.on_exit_code, fmt::format("{}", *end.exit_code))) return false;
  }
  if (rule.on_reason && !fits_pattern(*rule.on_reason, end.reason)) return false;
  return !rule.on_status_reason || fits_pattern(*rule.on_status_reason, end.status_reason);
}

}  // namespace

fact::Verdict expected_verdict(const JobRecord& job, const AttemptEnd& end, bool array_stopped) {
  if (end.cause == EndCause::kExited && end.exit_code && *end.exit_code == 0) return fact::Verdict::kSucceeded;
  if (job.stop_asked || array_stopped || end.cause == EndCause::kTimedOut) return fact::Verdict::kFailed;
  const auto& rules = job.spec.retry.rules;
  const auto rule = std::find_if(rules.begin(), rules.end(), [&](const RetryRule& r) { return rule_applies(r, end); });
  if (rule != rules.end() && rule->action == RetryAction::kExit) return fact::Verdict::kFailed;
  const bool free_losses = !job.spec.interruptions_use_attempts;
  if (free_losses && end.cause == EndCause::kLost) return fact::Verdict::kRetry;  // no run here reaches the bound
  int used = 1;
  for (const AttemptEnd& past : job.ends) used += free_losses && past.cause == EndCause::kLost ? 0 : 1;
  return used < job.spec.retry.attempts ? fact::Verdict::kRetry : fact::Verdict::kFailed;
}

void Ledger::take(std::span<const Fact> facts, std::span<const Job> finished) {
  finished_now_.clear();
  const size_t touched_before = touched_.size();
  for (const Fact& fact : facts) {
    SIM_REQUIRE(fact.at >= last_at_, "a fact is {} us older than the one before it", (last_at_ - fact.at).micros);
    last_at_ = fact.at;
    const auto* interrupted = std::get_if<fact::InstanceInterrupted>(&fact.body);
    if (need_ && (!interrupted || interrupted->for_job != need_->owner)) judge_need();
    std::visit([this](const auto& body) { on(body); }, fact.body);
    settle_ends();
  }
  if (need_) judge_need();
  for (size_t i = touched_before; i < touched_.size(); ++i) {
    const JobRecord& job = jobs_.at(touched_[i]);
    SIM_REQUIRE(!job.stop_asked || job.finished() || job.live || job.spec.array,
                "job {} was stopped and still waits to run", touched_[i].text());
  }
  check_finished(finished);
}

void Ledger::check_finished(std::span<const Job> finished) {
  SIM_REQUIRE(finished.size() == finished_now_.size(), "a batch finishes {} jobs and archives {}", finished_now_.size(),
              finished.size());
  std::ranges::sort(finished_now_);
  for (const Job& job : finished) {
    SIM_REQUIRE(std::ranges::binary_search(finished_now_, job.id), "a batch archives job {}, which it does not finish",
                job.id.text());
    compare(job);
  }
}

const JobRecord* Ledger::find(const JobId& id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

void Ledger::compare(const Job& job) const {
  const JobRecord* record = find(job.id);
  SIM_REQUIRE(record != nullptr, "job {} is shown and was never submitted durably", job.id.text());
  SIM_REQUIRE(std::string_view(status_name(job)) == name_of(record->phase), "job {} is shown {}, its facts say {}",
              job.id.text(), status_name(job), name_of(record->phase));
  SIM_REQUIRE(job.order == record->order, "job {} has order {}, it was submitted as number {}", job.id.text(),
              job.order, record->order);
  SIM_REQUIRE(job.past.size() == record->ends.size(), "job {} shows {} past attempts of {}", job.id.text(),
              job.past.size(), record->ends.size());
  for (size_t i = 0; i < job.past.size(); ++i) {
    const Attempt& past = job.past[i];
    SIM_REQUIRE(past.number == static_cast<int>(i) + 1 && past.end &&
                    past.end->exit_code == record->ends[i].exit_code && past.end->cause == record->ends[i].cause,
                "job {} shows attempt {} otherwise than it ended", job.id.text(), i + 1);
  }
  const Attempt* live = live_attempt(job);
  SIM_REQUIRE((live != nullptr) == record->live.has_value(), "job {} shows a live attempt: {}, its facts: {}",
              job.id.text(), live != nullptr, record->live.has_value());
  if (live) {
    SIM_REQUIRE(live->number == record->live->number && live->gpus == record->live->gpus &&
                    live->instance == record->live->instance,
                "job {} shows its live attempt otherwise than it was placed", job.id.text());
  }
  SIM_REQUIRE(job.stop.has_value() == record->stop_asked, "job {} shows a stop request: {}", job.id.text(),
              job.stop.has_value());
  if (record->spec.array) compare_children(job);
}

std::string Ledger::objection_to(const AttemptId& id) const {
  const JobRecord* job = find(id.job);
  if (!job) return "its job was never submitted durably";
  if (job->finished()) return "its job has finished";
  if (!job->live) return "its job has no live attempt";
  if (job->live->number != id.number) return fmt::format("its job's live attempt is {}", job->live->number);
  return {};
}

JobRecord& Ledger::known(const JobId& id, const char* fact_name) {
  const auto found = jobs_.find(id);
  SIM_REQUIRE(found != jobs_.end(), "{} names job {}, which was never submitted", fact_name, id.text());
  SIM_REQUIRE(!found->second.finished(), "{} changes job {}, which has finished", fact_name, id.text());
  return found->second;
}

void Ledger::step(const JobId& id) {
  ++job_steps_;
  touched_.push_back(id);
}

void Ledger::finish(const JobId& id, JobRecord& job, bool succeeded) {
  job.phase = succeeded ? JobRecord::Phase::kSucceeded : JobRecord::Phase::kFailed;
  if (id.is_child()) ended_children_.push_back(id);
  if (live_.erase(id) == 0) return;  // a child that had no attempt
  ++archived_;
  --jobs_in_queue_[job.spec.queue];
  finished_now_.push_back(id);
}

bool Ledger::succeeded(const JobId& id) const {
  const JobRecord* job = find(id);
  return job && job->phase == JobRecord::Phase::kSucceeded;
}

bool Ledger::failed(const JobId& id) const {
  const JobRecord* job = find(id);
  return job && job->phase == JobRecord::Phase::kFailed;
}

int64_t Ledger::instance_vcpus(const std::string& environment) const {
  int64_t total = 0;
  for (const auto& [id, instance] : instances_) {
    if (instance.value.environment == environment) total += instance.value.size.milli_vcpus;
  }
  return total;
}

// ---- The registry ----

void Ledger::on(const fact::EnvironmentPut& f) {
  environments_.insert_or_assign(f.value.name, f.value);
  excuse_promises();
}

void Ledger::on(const fact::EnvironmentDeleted& f) {
  const auto found = environments_.find(f.name);
  SIM_REQUIRE(found != environments_.end(), "compute environment {} is deleted and is not there", f.name);
  SIM_REQUIRE(!found->second.enabled, "compute environment {} is deleted while enabled", f.name);
  SIM_REQUIRE(instance_vcpus(f.name) == 0, "compute environment {} is deleted with instances", f.name);
  for (const auto& [name, queue] : queues_) {
    SIM_REQUIRE(std::ranges::find(queue.environments, f.name) == queue.environments.end(),
                "compute environment {} is deleted while queue {} uses it", f.name, name);
  }
  environments_.erase(found);
}

void Ledger::on(const fact::QueuePut& f) {
  for (const std::string& name : f.value.environments) {
    SIM_REQUIRE(environments_.contains(name), "queue {} names compute environment {}, which is not there", f.value.name,
                name);
  }
  SIM_REQUIRE(f.value.policy.empty() || policies_.contains(f.value.policy),
              "queue {} names scheduling policy {}, which is not there", f.value.name, f.value.policy);
  queues_.insert_or_assign(f.value.name, f.value);
  excuse_promises();
}

void Ledger::on(const fact::QueueDeleted& f) {
  const auto found = queues_.find(f.name);
  SIM_REQUIRE(found != queues_.end() && found->second.deleting, "queue {} goes without having been deleted", f.name);
  SIM_REQUIRE(jobs_in_queue_[f.name] == 0, "queue {} goes with {} jobs in it", f.name, jobs_in_queue_[f.name]);
  queues_.erase(found);
}

void Ledger::on(const fact::PolicyPut& f) { policies_.insert(f.value.name); }

void Ledger::on(const fact::PolicyDeleted& f) {
  SIM_REQUIRE(policies_.erase(f.name) == 1, "scheduling policy {} is deleted and is not there", f.name);
  for (const auto& [name, queue] : queues_) {
    SIM_REQUIRE(queue.policy != f.name, "scheduling policy {} is deleted while queue {} uses it", f.name, name);
  }
}

void Ledger::on(const fact::DefinitionPut& f) {
  int& highest = definitions_[f.value.name];
  SIM_REQUIRE(f.value.revision >= 1 && f.value.revision <= highest + 1, "definition {} jumps to revision {} from {}",
              f.value.name, f.value.revision, highest);
  highest = std::max(highest, f.value.revision);
}

// ---- Jobs ----

void Ledger::on(const fact::JobSubmitted& f) {
  JobRecord job;
  ++submitted_;
  job.order = next_order_;
  next_order_ += 1 + (f.spec.array ? f.spec.array->size : 0);
  job.spec = f.spec;
  const bool runs = f.waiting_for.empty() && !f.spec.array;
  job.phase = runs ? JobRecord::Phase::kRunnable : JobRecord::Phase::kPending;
  job.ready = f.waiting_for.empty();
  // One that is doomed already need not name what else it would wait for.
  const bool doomed =
      !f.spec.after_any && std::ranges::any_of(f.waiting_for, [this](const JobId& id) { return failed(id); });
  for (const JobId& id : f.spec.depends_on) {
    const bool waits = std::ranges::find(f.waiting_for, id) != f.waiting_for.end();
    SIM_REQUIRE(doomed || waits || lets_pass(job, id), "job {} does not wait for {}, which has not succeeded",
                f.id.text(), id.text());
  }
  const auto queue = queues_.find(f.spec.queue);
  SIM_REQUIRE(queue != queues_.end() && queue->second.enabled, "job {} enters queue {}, which is absent or disabled",
              f.id.text(), f.spec.queue);
  const auto [at, fresh] = jobs_.emplace(f.id, std::move(job));
  SIM_REQUIRE(fresh, "job {} is submitted twice", f.id.text());
  live_.insert(f.id);
  ++jobs_in_queue_[f.spec.queue];
  step(f.id);
  if (f.spec.array) submit_children(f.id, at->second, doomed);
}

void Ledger::on(const fact::JobTagged& f) {
  JobRecord& job = known(f.id, "JobTagged");
  job.spec.tags = f.tags;
  if (f.throttle && job.spec.array) {
    job.spec.array->throttle = *f.throttle;
    job.throttle_changed = true;
  }
}

void Ledger::on(const fact::JobReady& f) {
  JobRecord& job = known(f.id, "JobReady");
  SIM_REQUIRE(job.phase == JobRecord::Phase::kPending, "job {} becomes ready and is {}", f.id.text(),
              name_of(job.phase));
  for (const JobId& id : job.spec.depends_on) {
    SIM_REQUIRE(lets_pass(job, id), "job {} becomes ready before its dependency {} succeeded", f.id.text(), id.text());
  }
  job.ready = true;
  if (!job.spec.array) job.phase = JobRecord::Phase::kRunnable;
  step(f.id);
}

void Ledger::on(const fact::StopRequested& f) {
  JobRecord& job = known(f.id, "StopRequested");
  SIM_REQUIRE(!job.stop_asked || job.spec.array, "job {} is stopped twice", f.id.text());
  SIM_REQUIRE(!job.live || f.request.kind == StopKind::kTerminate, "job {} is cancelled while it runs", f.id.text());
  job.stop_asked = true;
  step(f.id);
}

void Ledger::on(const fact::JobFailed& f) {
  JobRecord& job = known(f.id, "JobFailed");
  SIM_REQUIRE(!job.live, "job {} fails over its live attempt {}", f.id.text(), job.live ? job.live->number : 0);
  const auto& needs = job.spec.depends_on;
  const bool dependency_failed = job.phase == JobRecord::Phase::kPending &&
                                 std::ranges::any_of(needs, [this](const JobId& id) { return failed(id); });
  SIM_REQUIRE(job.stop_asked || (dependency_failed && !job.spec.after_any),
              "job {} fails without a stop or a failed dependency", f.id.text());
  step(f.id);
  if (!job.spec.array) return finish(f.id, job, false);
  for (int i = 0; i < job.spec.array->size; ++i) doom(f.id.child(i));
}

void Ledger::on(const fact::ChildrenFailed& f) {
  JobRecord& array = known(f.id, "ChildrenFailed");
  SIM_REQUIRE(array.spec.array.has_value(), "job {} is no array and its children fail", f.id.text());
  // One child alone may have been stopped by its user, of which no other fact tells.
  const bool limited = !queues_.at(array.spec.queue).time_limits.empty();
  SIM_REQUIRE(array.stop_asked || limited || f.first == f.last, "children of array {} fail without a stop",
              f.id.text());
  for (int i = f.first; i <= f.last; ++i) doom(f.id.child(i));
  step(f.id);
}

// ---- Instances and attempts ----

void Ledger::on(const fact::InstanceStarted& f) {
  const Instance& i = f.value;
  SIM_REQUIRE(instances_ever_.insert(i.id.value).second, "instance {} starts twice", i.id.text());
  const auto environment = environments_.find(i.environment);
  SIM_REQUIRE(environment != environments_.end() && environment->second.enabled,
              "instance {} starts in compute environment {}, which is absent or disabled", i.id.text(), i.environment);
  SIM_REQUIRE(i.size.fits_in(site_.host) && i.size.milli_vcpus > 0, "instance {} of {} is larger than the host",
              i.id.text(), i.type);
  const int64_t total = instance_vcpus(i.environment) + i.size.milli_vcpus;
  SIM_REQUIRE(total <= environment->second.max_vcpus * 1000,
              "instance {} takes compute environment {} to {} of {} vCPUs", i.id.text(), i.environment, total / 1000,
              environment->second.max_vcpus);
  instances_.emplace(i.id, InstanceRecord{i, {}, 0, false, false});
}

void Ledger::on(const fact::InstanceEnded& f) {
  const auto found = instances_.find(f.id);
  SIM_REQUIRE(found != instances_.end(), "instance {} ends and is not there", f.id.text());
  SIM_REQUIRE(found->second.attempts == 0, "instance {} ends under {} attempts", f.id.text(), found->second.attempts);
  if (f.reason != "Compute environment deleted") judge_promise(found->second);
  instances_.erase(found);
}

void Ledger::on(const fact::AttemptPlaced& f) {
  JobRecord& job = known(f.id, "AttemptPlaced");
  const bool first_of_child = f.id.is_child() && !job.begun();
  const bool runnable = first_of_child ? child_may_run(f.id) : job.phase == JobRecord::Phase::kRunnable;
  SIM_REQUIRE(runnable, "job {} is placed and is {}", f.id.text(), name_of(job.phase));
  if (first_of_child) {
    live_.insert(f.id);
    ++jobs_in_queue_[job.spec.queue];
  }
  SIM_REQUIRE(f.attempt.number == std::ssize(job.ends) + 1, "job {} begins attempt {} after {}", f.id.text(),
              f.attempt.number, job.ends.size());
  for (const JobId& id : job.spec.depends_on) {
    SIM_REQUIRE(lets_pass(job, id), "job {} starts before its dependency {} succeeded", f.id.text(), id.text());
  }
  const auto queue = queues_.find(job.spec.queue);
  SIM_REQUIRE(queue != queues_.end() && queue->second.enabled,
              "job {} starts from queue {}, which is absent or disabled", f.id.text(), job.spec.queue);
  SIM_REQUIRE(std::ranges::find(queue->second.environments, f.attempt.environment) != queue->second.environments.end(),
              "job {} starts in compute environment {}, which its queue does not use", f.id.text(),
              f.attempt.environment);
  const auto environment = environments_.find(f.attempt.environment);
  SIM_REQUIRE(environment != environments_.end() && environment->second.enabled,
              "job {} starts in compute environment {}, which is absent or disabled", f.id.text(),
              f.attempt.environment);
  job.live = JobRecord::Live{f.attempt.number, f.attempt.instance, f.attempt.allocated, f.attempt.gpus, {}, {}};
  job.phase = JobRecord::Phase::kStarting;
  judge_placement(f);
  f.attempt.behind ? wait_behind(f.id, f) : occupy(f.id, f);
  SIM_REQUIRE(!instances_.at(f.attempt.instance).value.interruption,
              "job {} is placed on instance {}, which is taken back", f.id.text(), f.attempt.instance.text());
  take_consumables(f.id, job);
  step(f.id);
}

// It will have the place of another that lives, on the same terms; until then it has none.
void Ledger::wait_behind(const JobId& id, const fact::AttemptPlaced& f) {
  const auto ahead = jobs_.find(f.attempt.behind->job);
  SIM_REQUIRE(ahead != jobs_.end() && ahead->second.live && ahead->second.live->number == f.attempt.behind->number,
              "job {} waits for the place of {}, which does not live", id.text(), f.attempt.behind->text());
  JobRecord::Live& front = *ahead->second.live;
  SIM_REQUIRE(!front.follower, "jobs {} and {} wait for one place", id.text(), front.follower->text());
  SIM_REQUIRE(front.instance == f.attempt.instance && front.allocated == f.attempt.allocated && f.attempt.gpus.empty(),
              "job {} waits for a place that does not fit it", id.text());
  front.follower = id;
  jobs_.at(id).live->behind = f.attempt.behind->job;
  ++instances_.at(f.attempt.instance).attempts;
}

void Ledger::leave(const JobRecord::Live& live) {
  InstanceRecord& instance = instances_.at(live.instance);
  --instance.attempts;
  if (live.follower) jobs_.at(*live.follower).live->behind = live.behind;
  if (live.behind) jobs_.at(*live.behind).live->follower = live.follower;
  if (live.behind || live.follower) return;  // it had no place, or another has it now
  instance.used = instance.used - live.allocated;
  host_used_ = host_used_ - live.allocated;
  for (const int gpu : live.gpus) gpus_used_.erase(gpu);
}

void Ledger::occupy(const JobId& id, const fact::AttemptPlaced& f) {
  const Attempt& attempt = f.attempt;
  SIM_REQUIRE(attempt.allocated == jobs_.at(id).spec.resources, "job {} is given other resources than it asked for",
              id.text());
  const auto instance = instances_.find(attempt.instance);
  SIM_REQUIRE(instance != instances_.end() && instance->second.value.environment == attempt.environment,
              "job {} is placed on instance {}, which its compute environment does not have", id.text(),
              attempt.instance.text());
  InstanceRecord& record = instance->second;
  record.used = record.used + attempt.allocated;
  ++record.attempts;
  SIM_REQUIRE(record.used.fits_in(record.value.size), "instance {} is given out beyond its size by job {}",
              attempt.instance.text(), id.text());
  host_used_ = host_used_ + attempt.allocated;
  SIM_REQUIRE(host_used_.fits_in(site_.host), "the host is given out beyond its size by job {}", id.text());
  SIM_REQUIRE(std::ssize(attempt.gpus) == attempt.allocated.gpus, "job {} asked for {} GPUs and holds {}", id.text(),
              attempt.allocated.gpus, attempt.gpus.size());
  for (const int gpu : attempt.gpus) {
    SIM_REQUIRE(gpu >= 0 && gpu < site_.host.gpus, "job {} holds GPU {}, which the host does not have", id.text(), gpu);
    SIM_REQUIRE(gpus_used_.insert(gpu).second, "GPU {} is given to job {} and is held already", gpu, id.text());
  }
}

void Ledger::on(const fact::AttemptStarted& f) {
  JobRecord& job = known(f.id.job, "AttemptStarted");
  SIM_REQUIRE(job.phase == JobRecord::Phase::kStarting && job.live->number == f.id.number,
              "attempt {} starts and is {}", f.id.text(), name_of(job.phase));
  job.phase = JobRecord::Phase::kRunning;
  step(f.id.job);
}

void Ledger::on(const fact::AttemptEnded& f) {
  JobRecord& job = known(f.id.job, "AttemptEnded");
  SIM_REQUIRE(job.live && job.live->number == f.id.number, "attempt {} ends and is not live", f.id.text());
  SIM_REQUIRE(!alive_ || !alive_(f.id), "attempt {} ends in the journal while its program runs", f.id.text());
  const fact::Verdict expected =
      expected_verdict(job, f.end, f.id.job.is_child() && jobs_.at(f.id.job.parent()).stop_asked);
  SIM_REQUIRE(f.verdict == expected, "attempt {} ends with verdict {}, the retry rules say {}", f.id.text(),
              static_cast<int>(f.verdict), static_cast<int>(expected));
  judge_interrupted_end(f, job);
  leave(*job.live);
  return_consumables(job);
  job.live.reset();
  job.ends.push_back(f.end);
  if (f.verdict == fact::Verdict::kRetry) {
    job.phase = JobRecord::Phase::kRunnable;
  } else {
    finish(f.id.job, job, f.verdict == fact::Verdict::kSucceeded);
  }
  step(f.id.job);
}

}  // namespace teson::sim
