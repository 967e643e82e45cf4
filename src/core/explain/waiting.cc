#include "core/explain/waiting.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/explain/constants.h"
#include "core/explain/fit.h"
#include "core/explain/shortage.h"
#include "core/explain/words.h"
#include "core/scheduler/consumables.h"
#include "core/scheduler/fair_share.h"
#include "core/scheduler/preemption.h"
#include "core/state/state.h"

namespace teson {
namespace {

constexpr size_t kShownOfName = 32;

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

Explanation explain_pending(const State& state, const Job& job, const job_state::Pending& pending) {
  constexpr size_t kMostLines = 10;
  Explanation out{why_pending(job, pending), {}};
  for (const JobId& id : pending.waiting_for) {
    if (out.lines.size() == kMostLines) break;
    const Job* other = state.job(id);
    const auto letter = state.child_letter(id);
    out.lines.push_back(fmt::format("waits for {}{}: {}", id.text(), other ? " (" + other->spec.name + ")" : "",
                                    other    ? status_name(*other)
                                    : letter ? child_status_name(*letter)
                                             : "ended"));
  }
  out.lines.push_back(job.spec.after_any ? "changes it: their end, whatever it is" : "changes it: their success");
  return out;
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

// "place 3 of 7", counted within its share where there are shares. An array stands in the queue once, as its first
// child that may run.
std::string place_text(const QueueState& queue, const Job& job) {
  const auto text = [](size_t before, bool listed, size_t all) {
    return fmt::format("place {} of {}", listed ? before + 1 : std::max<size_t>(before, 1), all);
  };
  const bool listed = queue.ready.contains(job.order);
  if (queue.value.policy.empty()) return text(queue.places.order_of_key(job.order), listed, queue.places.size());
  const auto share = queue.shares.find(job.spec.share);
  if (share == queue.shares.end() || share->second.places.empty()) return {};
  const auto& places = share->second.places;
  return text(places.order_of_key({-job.spec.priority, job.order}), listed, places.size()) +
         fmt::format(" in share '{}'", clipped(job.spec.share, kShownOfName));
}

std::string holder_line(const State& state, const Holder& holder) {
  const Job& job = *holder.job;
  std::string text = fmt::format("held by {} ({}): {} since {}", job.id.text(), job.spec.name, holder.amount,
                                 utc_text(holder.attempt->started.value_or(holder.attempt->placed)));
  if (job.stop) return text + ", is being stopped";
  if (const auto& taken = state.instances().at(holder.attempt->instance).value.interruption) {
    return text + ", is being interrupted, until " + utc_text(taken->at + job.spec.grace) + " at the latest";
  }
  const auto latest = ends_by(job, *holder.attempt);
  return text + (latest ? ", until " + utc_text(*latest) + " at the latest" : ", without a time limit");
}

void add_holders(const State& state, const Shortage& shortage, std::vector<std::string>& lines) {
  for (const Holder& holder : shortage.largest) lines.push_back(holder_line(state, holder));
  const int more = shortage.holders - static_cast<int>(shortage.largest.size());
  if (more > 0) lines.push_back(fmt::format("held by {} more jobs, none of them with more", more));
}

std::string held_by(const Shortage& shortage) {
  if (shortage.largest.empty()) return {};
  const Holder& first = shortage.largest.front();
  std::string text = fmt::format("; held by {} ({}, {})", brief(first.job->id),
                                 clipped(first.job->spec.name, kShownOfName), first.amount);
  if (shortage.holders > 1) text += fmt::format(" and {} more", shortage.holders - 1);
  return text;
}

void add_offers(const State& state, const QueueState& queue, const Resources& ask, std::vector<std::string>& lines) {
  for (const ComputeEnvironment* environment : queue.usable_environments) {
    const auto offer = best_offer(state.site(), *environment, ask);
    lines.push_back(offer ? fmt::format("largest that would ever fit in compute environment '{}': {} ({}, maxvCpus {})",
                                        environment->name, resources_text(offer->size), offer->type,
                                        environment->max_vcpus)
                          : fmt::format("compute environment '{}' can start nothing: maxvCpus is {}", environment->name,
                                        environment->max_vcpus));
  }
}

Explanation why_never(const State& state, const QueueState& queue, const Job& job, std::string never) {
  Explanation out{std::move(never), {"asks " + resources_text(job.spec.resources)}};
  add_offers(state, queue, job.spec.resources, out.lines);
  out.lines.push_back("this host: " + resources_text(state.site().host));
  const ComputeEnvironment* bound = nullptr;
  for (const ComputeEnvironment* environment : queue.usable_environments) {
    const int64_t unbounded = state.site().host.milli_vcpus + environment->max_vcpus * 1000;
    if (!bound && runtime_for(state.site(), job.spec.image) &&
        fits_environment(state.site(), *environment, job.spec.resources, unbounded)) {
      bound = environment;
    }
  }
  if (bound) {
    out.sentence += fmt::format("; maxvCpus of compute environment '{}' is {}", clipped(bound->name, kShownOfName),
                                bound->max_vcpus);
    out.lines.push_back(fmt::format("changes it: a larger maxvCpus of compute environment '{}' (now {})", bound->name,
                                    bound->max_vcpus));
  }
  return out;
}

// Of a job that interrupts others: whom, and until when it has its room. Empty: it interrupts nobody.
std::string interrupts(const State& state, const JobId& id, std::vector<std::string>& lines) {
  std::optional<Instant> until;
  std::vector<const Job*> jobs;
  for (const InstanceState* instance : interrupted_for(state, id)) {
    const Interruption& taken = *instance->value.interruption;
    until = std::max(until.value_or(taken.until), taken.until);
    std::string line = fmt::format("interrupts instance {} of compute environment '{}', until {} at the latest",
                                   instance->value.id.text(), instance->value.environment, utc_text(taken.until));
    for (const JobId& held : state.jobs_on(instance->value.id)) {
      jobs.push_back(state.job(held));
      line += fmt::format("{} {} ({})", line.ends_with("latest") ? ":" : ",", held.text(), jobs.back()->spec.name);
    }
    lines.push_back(std::move(line));
  }
  if (!until) return {};
  std::string text = "; interrupts spot work";
  if (!jobs.empty()) {
    text += fmt::format(" of {} ({})", brief(jobs.front()->id), clipped(jobs.front()->spec.name, kShownOfName));
  }
  if (jobs.size() > 1) text += fmt::format(" and {} more", jobs.size() - 1);
  return text + fmt::format(", room by {} at the latest", utc_text(*until));
}

Explanation why_head_waits(const State& state, const QueueState& queue, const Job& job) {
  Shortage shortage = consumable_shortage(state, job.spec);
  if (shortage.text.empty()) shortage = shortage_of(state, queue, job.spec.resources);
  const std::string name = clipped(queue.value.name, kShownOfName);
  Explanation out;
  std::vector<std::string> interruptions;
  const std::string taking = interrupts(state, job.id, interruptions);
  out.sentence = shortage.text.empty()
                     ? fmt::format("{} - first of {} in queue '{}': is about to start", kInsufficientCapacity,
                                   queue.places.size(), name)
                     : fmt::format("{} - first of {} in queue '{}': {}{}", kInsufficientCapacity, queue.places.size(),
                                   name, shortage.text, taking.empty() ? held_by(shortage) : taking);
  out.lines = {"asks " + resources_text(job.spec.resources),
               "free on the host now: " + resources_text(state.host_free())};
  add_offers(state, queue, job.spec.resources, out.lines);
  add_holders(state, shortage, out.lines);
  out.lines.insert(out.lines.end(), interruptions.begin(), interruptions.end());
  out.lines.push_back(taking.empty() ? "changes it: the end of jobs that hold it"
                                     : "changes it: the end of what it interrupts");
  return out;
}

Explanation why_waits_behind(const State& state, const QueueState& queue, const Job& job, const JobId& head) {
  const Candidate first = state.candidate(head);
  Explanation out;
  out.sentence = fmt::format("Waits behind {} in queue '{}': {}", head.text(), clipped(queue.value.name, kShownOfName),
                             place_text(queue, job));
  const bool other_share = !queue.value.policy.empty() && first.spec->share != job.spec.share;
  if (other_share) {
    out.sentence += fmt::format("; share '{}' has its turn: '{}' has used more",
                                clipped(first.spec->share, kShownOfName), clipped(job.spec.share, kShownOfName));
  } else {
    out.sentence += "; asks " + resources_text(job.spec.resources);
  }
  out.lines = {"asks " + resources_text(job.spec.resources),
               "free on the host now: " + resources_text(state.host_free())};
  Shortage shortage = consumable_shortage(state, *first.spec);
  if (shortage.text.empty()) shortage = shortage_of(state, queue, first.spec->resources);
  if (!shortage.text.empty()) out.lines.push_back("the first in the queue lacks " + shortage.text);
  add_holders(state, shortage, out.lines);
  out.lines.push_back(other_share ? "changes it: its share's turn" : "changes it: the start of those before it");
  return out;
}

Explanation why_runnable_waits(const State& state, const Job& job) {
  const QueueState& queue = state.queues().at(job.spec.queue);
  if (auto never = why_never_fits(state.site(), queue, job.spec)) {
    return why_never(state, queue, job, std::move(*never));
  }
  if (auto never = why_totals_never_suffice(state, job.spec)) {
    return {std::move(*never), {"changes it: a larger total (UpdateConsumableResource)"}};
  }
  if (!queue.value.enabled) {
    return {fmt::format("Queue '{}' is disabled: enable it to start its jobs", queue.value.name), {}};
  }
  const auto head = next_in_turn(state, queue, state.last_fact_at());
  if (!head) return {};
  if (*head != job.id) return why_waits_behind(state, queue, job, *head);
  if (kept_by_reservation(state, queue, job.spec)) {
    return {fmt::format("Capacity of queue '{}' is kept for other shares (computeReservation of its scheduling policy)",
                        queue.value.name),
            {"asks " + resources_text(job.spec.resources),
             "changes it: the end of jobs of its own share, a smaller "
             "computeReservation, or jobs of other shares"}};
  }
  return why_head_waits(state, queue, job);
}

}  // namespace

Explanation explain_waiting(const State& state, const Job& job) {
  if (std::holds_alternative<job_state::Spread>(job.state)) return {why_array_is_not_done(job), {}};
  const auto* pending = std::get_if<job_state::Pending>(&job.state);
  if (!pending && !std::holds_alternative<job_state::Runnable>(job.state)) return {};
  const Job* array = job.id.is_child() ? state.job(job.id.parent()) : nullptr;
  if (pending && array) return {why_child_is_pending(state, *array, job.id.index), {}};
  if (pending) return pending->waiting_for.empty() ? Explanation{} : explain_pending(state, job, *pending);
  if (array) {
    if (std::string kept = why_array_keeps_child(*array); !kept.empty()) {
      return {std::move(kept), {"changes it: the end of one of them, or a larger throttle (teson throttle)"}};
    }
  }
  return why_runnable_waits(state, job);
}

std::string waiting_reason(const State& state, const Job& job) {
  return clipped(explain_waiting(state, job).sentence, kLongestReason);
}

}  // namespace teson
