#include "core/explain/waiting.h"

#include <fmt/format.h>

#include "core/explain/fit.h"
#include "core/scheduler/fair_share.h"
#include "core/state/state.h"

namespace teson {
namespace {

std::string why_pending(const Job& job, const job_state::Pending& pending) {
  if (pending.waiting_for.empty()) return {};
  std::string text =
      fmt::format("Waits for {} of {} dependencies:", pending.waiting_for.size(), job.spec.depends_on.size());
  int shown = 0;
  for (const JobId& id : pending.waiting_for) {
    if (++shown > 3) return text + " ...";
    text += " " + id.text();
  }
  return text;
}

std::string why_head_waits(const State& state, const QueueState& queue, const Job& job) {
  const Resources free = state.host_free();
  if (!job.spec.resources.fits_in(free)) {
    return fmt::format(
        "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - first in queue '{}': asks {}; free on the host now {}",
        queue.value.name, resources_text(job.spec.resources),
        resources_text(free) + (job.spec.resources.gpus > 0 && free.gpus == 0 ? ", 0 GPU" : ""));
  }
  return fmt::format(
      "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - first in queue '{}': asks {}; its compute environments are "
      "at maxvCpus",
      queue.value.name, resources_text(job.spec.resources));
}

std::string why_array_is_not_done(const Job& array) {
  const StatusSummary sum = summary_of(*array.array);
  const int ended = sum.succeeded + sum.failed;
  const int all = ended + sum.running + sum.starting + sum.runnable + sum.pending;
  return fmt::format("{} of {} children have ended, {} run, {} wait", ended, all, sum.running + sum.starting,
                     sum.runnable + sum.pending);
}

std::string why_child_is_pending(const State& state, const Job& array, int index) {
  if (const auto* pending = std::get_if<job_state::Pending>(&array.state)) return why_pending(array, *pending);
  if (array.spec.array->sequential) {
    int before = index - 1;
    while (before > 0 && array.array->children[static_cast<size_t>(before)] == child::kAbsent) --before;
    const char letter = before < 0 ? child::kSucceeded : array.array->children[static_cast<size_t>(before)];
    if (letter != child::kSucceeded && letter != child::kAbsent) {
      return fmt::format("Waits for child {} of its array (SEQUENTIAL)", before);
    }
  }
  for (const JobId& other : array.spec.array->n_to_n) {
    const auto letter = state.child_letter(other.child(index));
    if (letter && *letter != child::kSucceeded && *letter != child::kAbsent) {
      return fmt::format("Waits for {} (N_TO_N)", other.child(index).text());
    }
  }
  return {};
}

// Nothing if it is not its array that keeps it.
std::string why_array_keeps_child(const Job& array) {
  const int throttle = array.spec.array->throttle;
  const StatusSummary sum = summary_of(*array.array);
  if (throttle == 0 || sum.running + sum.starting < throttle) return {};
  return fmt::format("Its array runs {} children at once, as its throttle says", throttle);
}

std::string why_runnable_waits(const State& state, const Job& job) {
  const QueueState& queue = state.queues().at(job.spec.queue);
  if (auto never = why_never_fits(state.site(), queue, job.spec)) return *never;
  if (!queue.value.enabled) return fmt::format("Queue '{}' is disabled: enable it to start its jobs", queue.value.name);
  const auto head = next_in_turn(state, queue, state.last_fact_at());
  if (!head) return {};
  if (*head != job.id) return fmt::format("Waits behind {} in queue '{}'", head->text(), queue.value.name);
  if (kept_by_reservation(state, queue, job.spec)) {
    return fmt::format("Capacity of queue '{}' is kept for other shares (computeReservation of its scheduling policy)",
                       queue.value.name);
  }
  return why_head_waits(state, queue, job);
}

}  // namespace

std::string waiting_reason(const State& state, const Job& job) {
  if (std::holds_alternative<job_state::Spread>(job.state)) return why_array_is_not_done(job);
  const auto* pending = std::get_if<job_state::Pending>(&job.state);
  if (!pending && !std::holds_alternative<job_state::Runnable>(job.state)) return {};
  const Job* array = job.id.is_child() ? state.job(job.id.parent()) : nullptr;
  if (pending) return array ? why_child_is_pending(state, *array, job.id.index) : why_pending(job, *pending);
  if (array) {
    if (std::string kept = why_array_keeps_child(*array); !kept.empty()) return kept;
  }
  return why_runnable_waits(state, job);
}

}  // namespace teson
