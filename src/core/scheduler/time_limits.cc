#include "core/scheduler/time_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/explain/constants.h"
#include "core/explain/waiting.h"

namespace teson {
namespace {

// A job of the queue to which a limit may apply, and from when its time counts.
struct Waiting {
  JobId id;
  Instant since;
  bool held = false;
};

Instant runnable_since(const State& state, const JobId& id) {
  const Job& job = *state.job(state.job(id) ? id : id.parent());
  if (const auto* runnable = std::get_if<job_state::Runnable>(&job.state)) return runnable->since;
  const auto* spread = std::get_if<job_state::Spread>(&job.state);
  return spread ? spread->since : job.created;
}

template <class Use>
void for_each_waiting(const State& state, const QueueState& queue, Use use) {
  for (const auto& [order, id] : queue.held) use(Waiting{id, runnable_since(state, id), true});
  if (queue.head && queue.value.enabled) use(Waiting{*queue.head, queue.head_since});
}

std::string reason_of(const State& state, const JobId& id) {
  if (const Job* job = state.job(id)) return waiting_reason(state, *job);
  const auto child = unbegun_child(*state.job(id.parent()), id.index);
  return child ? waiting_reason(state, *child) : std::string();
}

int64_t shortest(const Queue& queue) {
  return std::ranges::min(queue.time_limits, {}, &TimeLimit::max_seconds).max_seconds;
}

FactBody cancel(const State& state, const JobId& id, std::string reason, Instant now) {
  const Job* job = state.job(id);
  if (id.is_child()) {
    // All that wait of the array wait for the same.
    const Job& array = *state.job(id.parent());
    if (!job) return fact::ChildrenFailed{array.id, 0, array.spec.array->size - 1, std::move(reason)};
  }
  if (job->stop) return fact::JobFailed{id, job->stop->reason};
  return fact::StopRequested{id, {StopKind::kCancel, std::move(reason), now}};
}

}  // namespace

std::optional<FactBody> cancel_overdue(const State& state, Instant now) {
  std::optional<FactBody> out;
  for (const QueueState* queue : state.queues_by_priority()) {
    if (queue->value.time_limits.empty()) continue;
    const Duration least = Duration::seconds(shortest(queue->value));
    for_each_waiting(state, *queue, [&](const Waiting& waiting) {
      if (out || waiting.since + least > now) return;
      const JobSpec& spec = *state.candidate(waiting.id).spec;
      const std::string_view constant =
          waiting.held ? constant_of_held(state, *queue, spec) : constant_of_head(state, *queue, spec);
      for (const TimeLimit& limit : queue->value.time_limits) {
        if (limit.reason != constant || waiting.since + Duration::seconds(limit.max_seconds) > now) continue;
        const std::string reason = reason_of(state, waiting.id);
        out = cancel(state, waiting.id,
                     fmt::format("{} (cancelled after {} s: jobStateTimeLimitActions of queue '{}')", reason,
                                 limit.max_seconds, queue->value.name),
                     now);
        return;
      }
    });
    if (out) return out;
  }
  return out;
}

std::optional<Instant> next_overdue_at(const State& state, Instant now) {
  std::optional<Instant> next;
  for (const QueueState* queue : state.queues_by_priority()) {
    if (queue->value.time_limits.empty()) continue;
    for_each_waiting(state, *queue, [&](const Waiting& waiting) {
      for (const TimeLimit& limit : queue->value.time_limits) {
        // What is due already has another reason to wait: only a fact can change that.
        const Instant due = waiting.since + Duration::seconds(limit.max_seconds);
        if (due > now && (!next || due < *next)) next = due;
      }
    });
  }
  return next;
}

}  // namespace teson
