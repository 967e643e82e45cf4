// What an interruption must be good for: the rules of docs/preemption.md, written a second time.
#include <algorithm>
#include <ranges>

#include "sim/ledger.h"

namespace teson::sim {

Resources Ledger::room_to_come() const {
  Resources out;
  for (const auto& [id, instance] : instances_) {
    if (instance.value.interruption) out = out + instance.used;
  }
  return out;
}

// A job whose attempt could be placed if there were room, or an array with such a child.
bool Ledger::waits_to_run(const JobId& owner) const {
  const JobRecord& job = jobs_.at(owner);
  if (job.finished() || job.stop_asked) return false;
  if (!job.spec.array) return job.phase == JobRecord::Phase::kRunnable;
  if (job.throttle_changed || job.spec.array->throttle > 0) return false;  // its throttle may keep the next one
  for (int i = 0; i < job.spec.array->size; ++i) {
    const JobRecord* child = find(owner.child(i));
    if (!child || child->finished()) continue;  // of some arrays only chosen children exist
    if (child->begun() ? child->phase == JobRecord::Phase::kRunnable : child_may_run(owner.child(i))) return true;
  }
  return false;
}

// nullopt: it depends on what only the control plane counts (arrays, jobs that have come to fit nowhere).
std::optional<Resources> Ledger::promised_to_others(const JobId& owner) const {
  std::set<JobId> others;
  for (const auto& [id, instance] : instances_) {
    const auto& taken = instance.value.interruption;
    if (!taken || !taken->for_job || *taken->for_job == owner || instance.promise_kept) continue;
    if (instance.excused || jobs_.at(*taken->for_job).spec.array) return std::nullopt;
    if (waits_to_run(*taken->for_job)) others.insert(*taken->for_job);
  }
  Resources out;
  for (const JobId& other : others) out = out + jobs_.at(other).spec.resources;
  return out;
}

void Ledger::on(const fact::InstanceInterrupted& f) {
  const auto found = instances_.find(f.id);
  SIM_REQUIRE(found != instances_.end() && found->second.attempts > 0,
              "instance {} is interrupted, and is absent or has nothing that runs on it", f.id.text());
  InstanceRecord& instance = found->second;
  SIM_REQUIRE(!instance.value.interruption, "instance {} is interrupted twice", f.id.text());
  SIM_REQUIRE(f.until >= last_at_, "instance {} is interrupted until a moment that is past", f.id.text());
  instance.value.interruption = Interruption{last_at_, f.until, f.reason, f.for_job};
  instance.promise_kept = instance.excused = false;
  if (!f.for_job) {  // a user's, by force perhaps of an instance that another job was to be placed on
    if (instance.value.market == Market::kOnDemand) excuse_promises();
    return;
  }
  SIM_REQUIRE(site_.preemption, "instance {} is interrupted for a job although preemption is off", f.id.text());
  SIM_REQUIRE(instance.value.market == Market::kSpot, "on-demand instance {} is interrupted for job {}", f.id.text(),
              f.for_job->text());
  const JobRecord& job = known(*f.for_job, "InstanceInterrupted");
  const Queue& queue = queues_.at(job.spec.queue);
  SIM_REQUIRE(queue.enabled, "instance {} is interrupted for a job of queue {}, which is disabled", f.id.text(),
              queue.name);
  SIM_REQUIRE(std::ranges::any_of(queue.environments,
                                  [this](const std::string& name) {
                                    const ComputeEnvironment& e = environments_.at(name);
                                    return e.enabled && e.market == Market::kOnDemand;
                                  }),
              "instance {} is interrupted for job {}, which is not on-demand work", f.id.text(), f.for_job->text());
  if (!need_) need_ = Need{*f.for_job, {}, {}, true};
  need_->instances.push_back(f.id);
  const auto others = promised_to_others(*f.for_job);
  need_->exact = need_->exact && others.has_value();
  need_->room = site_.host - host_used_ + room_to_come() - others.value_or(Resources{});
}

// The need is met, and would not be without any one of them.
void Ledger::judge_need() {
  const Need need = *std::exchange(need_, std::nullopt);
  const Resources& ask = jobs_.at(need.owner).spec.resources;
  SIM_REQUIRE(!need.exact || ask.fits_in(need.room), "{} instances are interrupted in vain for job {}",
              need.instances.size(), need.owner.text());
  if (!need.exact) return;
  for (const InstanceId& id : need.instances) {
    SIM_REQUIRE(!ask.fits_in(need.room - instances_.at(id).used),
                "instance {} is interrupted for job {}, which had room without it", id.text(), need.owner.text());
  }
}

void Ledger::excuse_promises() {
  for (auto& [id, instance] : instances_) instance.excused = true;
}

// Nobody takes what was made for another, but on-demand work of a higher priority.
void Ledger::judge_placement(const fact::AttemptPlaced& f) {
  const Resources free = site_.host - host_used_ + room_to_come();
  const Queue& queue = queues_.at(jobs_.at(f.id).spec.queue);
  const bool on_demand = environments_.at(f.attempt.environment).market == Market::kOnDemand;
  for (auto& [id, instance] : instances_) {
    const auto& taken = instance.value.interruption;
    if (!taken || !taken->for_job) continue;
    const JobId owner = *taken->for_job;
    if (owner == f.id.parent()) {
      // Behind a sibling: it has its turn without the room, which nobody may wait for meanwhile.
      (f.attempt.behind ? instance.excused : instance.promise_kept) = true;
      continue;
    }
    if (f.attempt.behind) continue;  // takes no room
    const JobRecord& job = jobs_.at(owner);
    if (job.finished()) continue;
    if (on_demand && queue.priority > queues_.at(job.spec.queue).priority) {
      instance.excused = true;
      continue;
    }
    if (instance.excused || instance.promise_kept || job.spec.array || !waits_to_run(owner)) continue;
    SIM_REQUIRE(!job.spec.resources.fits_in(free) || job.spec.resources.fits_in(free - f.attempt.allocated),
                "job {} takes the room that was made for job {}", f.id.text(), owner.text());
  }
}

// Its last attempt has ended: whom it was interrupted for has its place, or no longer wants it.
void Ledger::judge_promise(const InstanceRecord& ended) {
  const auto& taken = ended.value.interruption;
  if (!taken || !taken->for_job || ended.promise_kept || ended.excused) return;
  const JobId owner = *taken->for_job;
  const bool others_follow = std::ranges::any_of(instances_, [&](const auto& at) {
    const auto& other = at.second.value.interruption;
    return at.first != ended.value.id && other && other->for_job == owner;
  });
  // A share that others join may have to leave them some (computeReservation).
  if (others_follow || !waits_to_run(owner) || !queues_.at(jobs_.at(owner).spec.queue).policy.empty()) return;
  throw BrokenInvariant{fmt::format("instance {} was interrupted for job {}, which waits all the same",
                                    ended.value.id.text(), owner.text())};
}

void Ledger::judge_interrupted_end(const fact::AttemptEnded& f, const JobRecord& job) {
  if (!instances_.at(job.live->instance).value.interruption || job.stop_asked) return;
  SIM_REQUIRE(f.end.cause != EndCause::kStopped, "attempt {} was interrupted and counts as stopped", f.id.text());
  SIM_REQUIRE(f.end.cause != EndCause::kLost || f.end.status_reason.starts_with("Host EC2 (instance i-"),
              "attempt {} was interrupted and ends with '{}'", f.id.text(), f.end.status_reason);
}

}  // namespace teson::sim
