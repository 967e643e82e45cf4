#include "core/scheduler/fair_share.h"

#include <algorithm>
#include <cmath>

namespace teson {
namespace {

// What it runs now counts as if it had run for a part of the decay time already, and so lowers its place at once; a
// small part, or whole slots would weigh more than what was really used.
constexpr double kForesight = 0.02;

double load_of(const ShareState& share, const SchedulingPolicy& policy, int64_t weight_e4, Instant now) {
  const double foreseen = kForesight * static_cast<double>(decay_seconds_of(policy));
  const double used = static_cast<double>(used_at(share, policy, now)) + static_cast<double>(share.running) * foreseen;
  return used * static_cast<double>(weight_e4);
}

// Thousandths of a vCPU that the queue's jobs can have at once.
int64_t capacity_of(const State& state, const QueueState& queue) {
  int64_t total = 0;
  for (const ComputeEnvironment* environment : queue.usable_environments) total += environment->max_vcpus * 1000;
  return std::min(total, state.site().host.milli_vcpus);
}

}  // namespace

int64_t used_at(const ShareState& share, const SchedulingPolicy& policy, Instant now) {
  const double decay = static_cast<double>(decay_seconds_of(policy));
  const double elapsed = static_cast<double>(std::max<int64_t>((now - share.at).micros, 0)) / 1e6;
  const double kept = std::exp(-elapsed / decay);
  const double ran = static_cast<double>(share.running) * decay * (1 - kept);
  return std::llround(static_cast<double>(share.used) * kept + ran);
}

bool kept_by_reservation(const State& state, const QueueState& queue, const JobSpec& spec) {
  const SchedulingPolicy* policy = state.policy_of(queue.value);
  if (!policy || policy->compute_reservation == 0) return false;
  int active = 0;
  int64_t running = 0;
  for (const auto& [name, share] : queue.shares) {
    active += share.running > 0 ? 1 : 0;
    running += share.running;
  }
  // The first job of a share that comes anew is what the room is kept for; and an empty queue lets anything run.
  const auto own = queue.shares.find(spec.share);
  if (running == 0 || own == queue.shares.end() || own->second.running == 0) return false;
  const double kept = std::pow(policy->compute_reservation / 100.0, active);
  const double allowed = static_cast<double>(capacity_of(state, queue)) * (1 - kept);
  return static_cast<double>(running + spec.resources.milli_vcpus) > allowed;
}

// The ready share with the smallest load, of those that run nothing or of all.
static const ShareState* least_loaded(const QueueState& queue, const SchedulingPolicy& policy, bool idle_only,
                                      Instant now) {
  const ShareState* best = nullptr;
  double least = 0;
  for (const auto& [name, share] : queue.shares) {
    if (share.ready.empty() || (idle_only && share.running > 0)) continue;
    const double load = load_of(share, policy, weight_e4_of(policy, name), now);
    if (best && load >= least) continue;
    best = &share;
    least = load;
  }
  return best;
}

std::optional<JobId> next_in_turn(const State& state, const QueueState& queue, Instant now) {
  if (queue.ready.empty()) return std::nullopt;
  const SchedulingPolicy* policy = state.policy_of(queue.value);
  if (!policy) return queue.ready.begin()->second;
  const ShareState* best = least_loaded(queue, *policy, false, now);
  const JobId first = best->ready.begin()->second;
  if (!kept_by_reservation(state, queue, *state.candidate(first).spec)) return first;
  const ShareState* anew = least_loaded(queue, *policy, true, now);
  return anew ? anew->ready.begin()->second : first;
}

namespace {

// A ready entry, and if it is an array's first runnable child, those of its siblings that could start with it.
void append_with_siblings(const State& state, const JobId& id, size_t limit, std::vector<JobId>& out) {
  out.push_back(id);
  const Job* array = id.is_child() ? state.job(id.parent()) : nullptr;
  if (!array) return;
  const std::string& letters = array->array->children;
  const int throttle = array->spec.array->throttle;
  const StatusSummary sum = summary_of(*array->array);
  size_t more = throttle == 0 ? limit : static_cast<size_t>(std::max(throttle - sum.starting - sum.running - 1, 0));
  for (size_t at = letters.find(child::kRunnable, static_cast<size_t>(id.index) + 1);
       at != std::string::npos && more > 0 && out.size() < limit; at = letters.find(child::kRunnable, at + 1), --more) {
    out.push_back(array->id.child(static_cast<int>(at)));
  }
}

struct ShareFront {
  ShareState use;  // with what would be placed
  int64_t weight_e4 = 0;
  std::vector<JobId> jobs;
  size_t next = 0;
};

std::vector<JobId> front_by_turns(const State& state, const QueueState& queue, const SchedulingPolicy& policy,
                                  Instant now, size_t limit) {
  std::vector<ShareFront> fronts;
  for (const auto& [name, share] : queue.shares) {
    if (share.ready.empty()) continue;
    ShareFront front{{.running = share.running, .used = share.used, .at = share.at}, weight_e4_of(policy, name), {}, 0};
    for (auto at = share.ready.begin(); at != share.ready.end() && front.jobs.size() < limit; ++at) {
      append_with_siblings(state, at->second, limit, front.jobs);
    }
    fronts.push_back(std::move(front));
  }
  std::vector<JobId> out;
  while (out.size() < limit) {
    ShareFront* best = nullptr;
    for (ShareFront& front : fronts) {
      if (front.next == front.jobs.size()) continue;
      const bool less =
          !best || load_of(front.use, policy, front.weight_e4, now) < load_of(best->use, policy, best->weight_e4, now);
      if (less) best = &front;
    }
    if (!best) break;
    const JobId id = best->jobs[best->next++];
    best->use.running += state.candidate(id).spec->resources.milli_vcpus;
    out.push_back(id);
  }
  return out;
}

}  // namespace

std::vector<JobId> front_of_queue(const State& state, const QueueState& queue, Instant now, size_t limit) {
  if (const SchedulingPolicy* policy = state.policy_of(queue.value)) {
    return front_by_turns(state, queue, *policy, now, limit);
  }
  std::vector<JobId> out;
  for (auto at = queue.ready.begin(); at != queue.ready.end() && out.size() < limit; ++at) {
    append_with_siblings(state, at->second, limit, out);
  }
  return out;
}

}  // namespace teson
