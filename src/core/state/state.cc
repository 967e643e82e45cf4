#include "core/state/state.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "core/explain/fit.h"
#include "core/scheduler/fair_share.h"

namespace teson {
namespace {

bool is_pending(const Job& job) {
  return std::holds_alternative<job_state::Pending>(job.state) || std::holds_alternative<job_state::Spread>(job.state);
}

}  // namespace

State::State(Site site) : site_(std::move(site)), gpu_used_(static_cast<size_t>(site_.host.gpus), false) {}

State::State(Site site, Snapshot snapshot) : State(std::move(site)) {
  last_fact_at_ = snapshot.last_fact_at;
  now_ = snapshot.last_fact_at;
  next_order_ = snapshot.next_order;
  instances_started_ = snapshot.instances_started;
  for (auto& environment : snapshot.environments) {
    const std::string name = environment.name;
    environments_.emplace(name, std::move(environment));
  }
  for (auto& policy : snapshot.policies) {
    const std::string name = policy.name;
    policies_.emplace(name, std::move(policy));
  }
  for (auto& consumable : snapshot.consumables) {
    const std::string name = consumable.name;
    consumables_[name].value = std::move(consumable);
  }
  for (auto& queue : snapshot.queues) {
    QueueState& loaded = queues_[queue.name];
    loaded.value = std::move(queue);
    find_environments(loaded);
  }
  order_queues();
  for (auto& definition : snapshot.definitions) {
    const std::string name = definition.name;
    const int revision = definition.revision;
    definitions_[name].emplace(revision, std::move(definition));
  }
  for (auto& instance : snapshot.instances) {
    const InstanceId id = instance.id;
    const auto [at, fresh] = instances_.emplace(id, InstanceState{std::move(instance), {}, 0, snapshot.last_fact_at});
    if (fresh) index_instance(at->second);
    if (at->second.value.interruption) interrupted_.insert(id);
  }
  for (const ShareRecord& record : snapshot.shares) {
    ShareState& share = queues_.at(record.queue).shares[record.share];
    share.used = record.used;
    share.at = record.at;
  }
  std::vector<Job*> loaded;
  for (auto& job : snapshot.jobs) {
    const JobId id = job.id;
    const auto [at, fresh] = jobs_.emplace(id, std::move(job));
    TESON_CHECK(fresh, "a job stands twice in the snapshot");
    loaded.push_back(&at->second);
    if (id.is_child()) at->second.spec = child_spec(known_job(id.parent()).spec);
  }
  // Only when all are there: what one waits for may come later.
  for (Job* job : loaded) index_job(*job);
  for (Job* job : loaded) {
    if (job->array) index_array(*job);
  }
}

void State::index_job(Job& job) {
  QueueState& queue = queue_of(job);
  queue.jobs.emplace(job.order, job.id);
  note_asker(job);
  if (is_pending(job)) ++queue.pending;
  if (const auto* pending = std::get_if<job_state::Pending>(&job.state)) {
    for (const JobId& awaited : pending->waiting_for) {
      if (is_unfinished(awaited)) {
        dependents_[awaited].push_back(job.id);
      } else {
        // One that succeeded would not be waited for any more.
        doomed_dependents_.emplace(job.id, kDependentFailed + awaited.text());
      }
    }
    if (pending->waiting_for.empty()) ready_dependents_.insert(job.id);
    if (job.array) watch_counterparts(job);
  } else if (std::holds_alternative<job_state::Spread>(job.state)) {
    watch_counterparts(job);
  } else if (std::holds_alternative<job_state::Runnable>(job.state)) {
    // A child stands in the queue only while it is its array's first.
    if (!job.id.is_child()) list(queue, job.order, job.id, job.spec);
  } else if (const Attempt* attempt = live_attempt(job)) {
    occupy(job.id, *attempt);
    take_consumables(job.spec);
    if (!queue.value.policy.empty() && !attempt->behind)
      queue.shares[job.spec.share].running += attempt->allocated.milli_vcpus;
  }
}

Snapshot State::snapshot() const {
  Snapshot out;
  out.last_fact_at = last_fact_at_;
  out.next_order = next_order_;
  out.instances_started = instances_started_;
  for (const auto& [name, environment] : environments_) out.environments.push_back(environment);
  for (const auto& [name, queue] : queues_) out.queues.push_back(queue.value);
  for (const auto& [name, revisions] : definitions_) {
    for (const auto& [revision, definition] : revisions) out.definitions.push_back(definition);
  }
  for (const auto& [id, instance] : instances_) out.instances.push_back(instance.value);
  for (const auto& [name, policy] : policies_) out.policies.push_back(policy);
  for (const auto& [name, consumable] : consumables_) out.consumables.push_back(consumable.value);
  for (const auto& [name, queue] : queues_) {
    for (const auto& [share, state] : queue.shares) {
      if (state.used > 0 || state.running > 0) out.shares.push_back({name, share, state.used, state.at});
    }
  }
  // By queue and order, so that the same state always gives the same bytes.
  for (const auto& [name, queue] : queues_) {
    for (const auto& [order, id] : queue.jobs) out.jobs.push_back(jobs_.at(id));
  }
  return out;
}

std::vector<Job> State::take_finished() { return std::exchange(finished_, {}); }

const Job* State::job(const JobId& id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

const std::vector<const InstanceState*>& State::instances_of(const std::string& environment) const {
  static const std::vector<const InstanceState*> kNone;
  const auto found = instances_by_environment_.find(environment);
  return found == instances_by_environment_.end() ? kNone : found->second.by_id;
}

int64_t State::instance_vcpus_of(const std::string& environment) const {
  const auto found = instances_by_environment_.find(environment);
  return found == instances_by_environment_.end() ? 0 : found->second.milli_vcpus;
}

void State::index_instance(const InstanceState& instance) {
  EnvironmentInstances& index = instances_by_environment_[instance.value.environment];
  const auto smaller = [](const InstanceState* a, const InstanceState* b) { return a->value.id < b->value.id; };
  index.by_id.insert(std::upper_bound(index.by_id.begin(), index.by_id.end(), &instance, smaller), &instance);
  index.milli_vcpus += instance.value.size.milli_vcpus;
}

std::vector<int> State::free_gpus(int64_t count) const {
  std::vector<int> out;
  for (size_t i = 0; i < gpu_used_.size() && std::ssize(out) < count; ++i) {
    if (!gpu_used_[i]) out.push_back(static_cast<int>(i));
  }
  return out;
}

Job& State::known_job(const JobId& id) {
  const auto found = jobs_.find(id);
  TESON_CHECK(found != jobs_.end(), "a fact names a job that is not live");
  return found->second;
}

QueueState& State::queue_of(const Job& job) {
  const auto found = queues_.find(job.spec.queue);
  TESON_CHECK(found != queues_.end(), "a live job's queue is gone");
  return found->second;
}

void State::make_runnable(Job& job) {
  if (job.array) return spread(job);
  if (is_pending(job)) --queue_of(job).pending;
  job.state = job_state::Runnable{now_};
  // A child stands in the queue only while it is its array's first.
  if (!job.id.is_child()) list(queue_of(job), job.order, job.id, job.spec);
}

void State::list(QueueState& queue, uint64_t order, const JobId& id, const JobSpec& spec) {
  note_waiting(queue, order, spec, true);
  if (!may_ever_run(queue, spec)) {
    queue.held.emplace(order, id);
    return;
  }
  queue.ready.emplace(order, id);
  queue.places.insert(order);
  if (queue.value.policy.empty()) return;
  ShareState& share = queue.shares[spec.share];
  share.ready.emplace(std::pair(-spec.priority, order), id);
  share.places.insert(std::pair(-spec.priority, order));
}

void State::unlist(QueueState& queue, uint64_t order, const JobSpec& spec) {
  note_waiting(queue, order, spec, false);
  queue.held.erase(order);
  if (queue.ready.erase(order) == 0) return;
  queue.places.erase(order);
  if (queue.value.policy.empty()) return;
  ShareState& share = queue.shares.at(spec.share);
  share.ready.erase(std::pair(-spec.priority, order));
  share.places.erase(std::pair(-spec.priority, order));
}

void State::watch_heads() {
  for (QueueState* queue : limited_queues_) {
    auto head = next_in_turn(*this, *queue, now_);
    if (head == queue->head) continue;
    queue->head = head;
    queue->head_since = now_;
  }
}

const SchedulingPolicy* State::policy_of(const Queue& queue) const {
  const auto found = policies_.find(queue.policy);
  return found == policies_.end() ? nullptr : &found->second;
}

void State::charge_share(QueueState& queue, const JobSpec& spec, int64_t milli_vcpus) {
  const SchedulingPolicy* policy = policy_of(queue.value);
  if (!policy) return;
  ShareState& share = queue.shares[spec.share];
  share.used = used_at(share, *policy, now_);
  share.at = now_;
  share.running += milli_vcpus;
}

void State::find_environments(QueueState& queue) const {
  queue.usable_environments.clear();
  for (const std::string& name : queue.value.environments) {
    const auto found = environments_.find(name);
    if (found != environments_.end() && found->second.enabled) queue.usable_environments.push_back(&found->second);
  }
}

Candidate State::candidate(const JobId& id) const {
  if (const Job* known = job(id)) return {id, &known->spec, static_cast<int>(known->past.size()) + 1};
  return {id, &jobs_.at(id.parent()).spec, 1};
}

std::optional<JobId> State::ready_for(const JobId& id) const {
  const Job* owner = job(id.parent());
  if (!owner) return std::nullopt;
  uint64_t order = owner->order;
  if (owner->array) {
    const auto array = arrays_.find(owner->id);
    if (array == arrays_.end() || !array->second.listed) return std::nullopt;
    order += 1 + static_cast<uint64_t>(*array->second.listed);
  }
  const QueueState& queue = queues_.at(owner->spec.queue);
  const auto found = queue.ready.find(order);
  return found == queue.ready.end() ? std::nullopt : std::optional(found->second);
}

std::vector<JobId> State::jobs_on(const InstanceId& id) const {
  std::vector<JobId> out;
  for (const JobId& holder : holders_) {
    if (live_attempt(jobs_.at(holder))->instance != id) continue;
    for (std::optional<JobId> next = holder; next; next = follower_of(*next)) out.push_back(*next);
  }
  return out;
}

void State::order_queues() {
  queues_by_priority_.clear();
  limited_queues_.clear();
  for (auto& [name, queue] : queues_) {
    queues_by_priority_.push_back(&queue);
    if (!queue.value.time_limits.empty()) limited_queues_.push_back(&queue);
  }
  std::stable_sort(queues_by_priority_.begin(), queues_by_priority_.end(),
                   [](const QueueState* a, const QueueState* b) { return a->value.priority > b->value.priority; });
}

// Which of the queue's runnable jobs can be placed at all: again after anything changed that decides it.
void State::review_queue(QueueState& queue) {
  find_environments(queue);
  std::vector<std::pair<uint64_t, JobId>> moved;
  for (const auto& [order, id] : queue.ready) {
    if (!may_ever_run(queue, *candidate(id).spec)) moved.emplace_back(order, id);
  }
  for (const auto& [order, id] : queue.held) {
    if (may_ever_run(queue, *candidate(id).spec)) moved.emplace_back(order, id);
  }
  for (const auto& [order, id] : moved) {
    const JobSpec& spec = *candidate(id).spec;
    unlist(queue, order, spec);
    list(queue, order, id, spec);
  }
}

void State::review_queues_of(const std::string& environment) {
  for (auto& [name, queue] : queues_) {
    const auto& used = queue.value.environments;
    if (std::find(used.begin(), used.end(), environment) != used.end()) review_queue(queue);
  }
}

void State::occupy(const JobId& id, const Attempt& attempt) {
  const auto found = instances_.find(attempt.instance);
  TESON_CHECK(found != instances_.end(), "an attempt is placed on an instance that is not there");
  InstanceState& instance = found->second;
  ++instance.attempts;
  if (attempt.behind) {
    const Job* ahead = job(attempt.behind->job);
    const Attempt* live = ahead ? live_attempt(*ahead) : nullptr;
    TESON_CHECK(live && live->number == attempt.behind->number && live->instance == attempt.instance &&
                    live->allocated == attempt.allocated && attempt.gpus.empty(),
                "an attempt waits for a place that it cannot take over");
    TESON_CHECK(followers_.emplace(attempt.behind->job, id).second, "two attempts wait for one place");
    return;
  }
  host_used_ = host_used_ + attempt.allocated;
  for (const int gpu : attempt.gpus) {
    const auto index = static_cast<size_t>(gpu);
    if (index >= gpu_used_.size()) gpu_used_.resize(index + 1, false);  // the host has fewer GPUs than it had
    TESON_CHECK(!gpu_used_[index], "a GPU is handed out twice");
    gpu_used_[index] = true;
  }
  instance.used = instance.used + attempt.allocated;
  hold_place(id, true);
}

void State::hold_place(const JobId& id, bool holds) {
  holds ? static_cast<void>(holders_.insert(id)) : static_cast<void>(holders_.erase(id));
  if (!id.is_child()) return;
  std::set<int>& places = arrays_.at(id.parent()).places;
  holds ? static_cast<void>(places.insert(id.index)) : static_cast<void>(places.erase(id.index));
}

// Returns who has its place now.
std::optional<JobId> State::vacate(const JobId& id, const Attempt& attempt) {
  InstanceState& instance = instances_.at(attempt.instance);
  if (--instance.attempts == 0) instance.idle_since = now_;
  const auto follower = follower_of(id);
  followers_.erase(id);
  if (follower) live_attempt(known_job(*follower))->behind = attempt.behind;
  if (attempt.behind) {
    followers_.erase(attempt.behind->job);
    if (follower) followers_.emplace(attempt.behind->job, *follower);
    return std::nullopt;
  }
  hold_place(id, false);
  if (follower) {
    hold_place(*follower, true);
    return follower;
  }
  host_used_ = host_used_ - attempt.allocated;
  for (const int gpu : attempt.gpus) gpu_used_[static_cast<size_t>(gpu)] = false;
  instance.used = instance.used - attempt.allocated;
  return std::nullopt;
}

std::optional<JobId> State::follower_of(const JobId& id) const {
  const auto found = followers_.find(id);
  return found == followers_.end() ? std::nullopt : std::optional(found->second);
}

void State::finish(Job& job, JobState end) {
  QueueState& queue = queue_of(job);
  queue.jobs.erase(job.order);
  forget_asker(job);
  if (is_pending(job)) --queue.pending;
  unlist(queue, job.order, job.spec);
  ready_dependents_.erase(job.id);
  doomed_dependents_.erase(job.id);
  if (const auto* pending = std::get_if<job_state::Pending>(&job.state)) {
    for (const JobId& awaited : pending->waiting_for) {
      const auto found = dependents_.find(awaited);
      if (found != dependents_.end()) std::erase(found->second, job.id);
    }
  }
  job.state = std::move(end);
  const bool succeeded = std::holds_alternative<job_state::Succeeded>(job.state);
  release_dependents(job.id, job.spec.name, job.status_reason, succeeded);
  const JobId id = job.id;
  finished_.push_back(std::move(job));
  jobs_.erase(id);
  if (id.is_child()) child_ended(id, succeeded);
}

void State::release_dependents(const JobId& id, const std::string& name, const std::string& reason, bool succeeded) {
  const auto found = dependents_.find(id);
  if (found == dependents_.end()) return;
  for (const JobId& dependent_id : found->second) {
    Job& dependent = known_job(dependent_id);
    auto& waiting = std::get<job_state::Pending>(dependent.state).waiting_for;
    if (!succeeded && !dependent.spec.after_any) {
      // It stays among those waited for: a snapshot taken now must still tell that the dependent cannot run.
      // All that follow fail for the one that failed first.
      const bool passed_on = reason.starts_with(kDependentFailed);
      doomed_dependents_.emplace(dependent_id, passed_on ? reason : kDependentFailed + id.text() + " (" + name + ")");
    } else if (waiting.erase(id); waiting.empty()) {
      ready_dependents_.insert(dependent_id);
    }
  }
  dependents_.erase(found);
}

}  // namespace teson
