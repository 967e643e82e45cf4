#include "core/scheduler/look_ahead.h"

#include <algorithm>

#include "core/scheduler/placement.h"

namespace teson {
namespace {

constexpr int kEnoughSeen = 4;                      // ends of siblings, to judge by
constexpr Duration kShort = Duration::millis(50);   // on the average; longer ones gain nothing
constexpr Duration kAhead = Duration::millis(100);  // of work that waits at one place
constexpr Duration kLeast = Duration::millis(2);    // that an attempt takes at any rate
constexpr int kMostAhead = 32;

int chain_behind(const State& state, JobId id, int most) {
  int length = 0;
  for (auto next = state.follower_of(id); next && length < most; next = state.follower_of(*next)) ++length;
  return length;
}

JobId last_behind(const State& state, JobId id) {
  for (auto next = state.follower_of(id); next; next = state.follower_of(*next)) id = *next;
  return id;
}

}  // namespace

std::optional<FactBody> place_behind(const State& state, const QueueState& queue, const Candidate& job, Instant now) {
  if (!job.id.is_child() || job.spec->resources.gpus > 0 || !job.spec->consumables.empty()) return std::nullopt;
  const State::Pace pace = state.pace_of(job.id.parent());
  if (pace.ended < kEnoughSeen) return std::nullopt;
  const Duration each = std::max(Duration{pace.run.micros / pace.ended}, kLeast);
  if (each > kShort) return std::nullopt;
  int shortest = static_cast<int>(std::min<int64_t>(kAhead.micros / each.micros, kMostAhead));
  std::optional<JobId> place;
  for (const int index : *pace.places) {
    const JobId front = job.id.parent().child(index);
    const Job& sibling = *state.job(front);
    const std::string& environment = live_attempt(sibling)->environment;
    // One that runs where the queue no longer places anything, or no longer as much.
    const bool usable = std::ranges::any_of(queue.usable_environments, [&](const ComputeEnvironment* used) {
      return used->name == environment && state.instance_vcpus_of(environment) <= used->max_vcpus * 1000;
    });
    const bool leaves = state.instances().at(live_attempt(sibling)->instance).value.interruption.has_value();
    if (sibling.stop || leaves || !usable) continue;
    const int length = chain_behind(state, front, shortest);
    if (length >= shortest) continue;
    shortest = length;
    place = front;
  }
  if (!place) return std::nullopt;
  const JobId ahead = last_behind(state, *place);
  const Attempt& live = *live_attempt(*state.job(ahead));
  if (live.allocated != job.spec->resources) return std::nullopt;
  Attempt attempt = make_attempt(state, job, state.instances().at(live.instance).value, now);
  attempt.behind = AttemptId{ahead, live.number};
  return fact::AttemptPlaced{job.id, std::move(attempt)};
}

}  // namespace teson
