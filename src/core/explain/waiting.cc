#include "core/explain/waiting.h"

#include <fmt/format.h>

#include "core/explain/fit.h"
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
        queue.value.name, resources_text(job.spec.resources), resources_text(free));
  }
  return fmt::format(
      "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - first in queue '{}': asks {}; its compute environments are "
      "at maxvCpus",
      queue.value.name, resources_text(job.spec.resources));
}

}  // namespace

std::string waiting_reason(const State& state, const Job& job) {
  if (const auto* pending = std::get_if<job_state::Pending>(&job.state)) return why_pending(job, *pending);
  if (!std::holds_alternative<job_state::Runnable>(job.state)) return {};
  const QueueState& queue = state.queues().at(job.spec.queue);
  if (queue.held.contains(job.order)) return why_never_fits(state, queue.value, job.spec).value_or("");
  if (!queue.value.enabled) return fmt::format("Queue '{}' is disabled: enable it to start its jobs", queue.value.name);
  if (queue.ready.begin()->second == job.id) return why_head_waits(state, queue, job);
  return fmt::format("Waits behind {} in queue '{}'", queue.ready.begin()->second.text(), queue.value.name);
}

}  // namespace teson
