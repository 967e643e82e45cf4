#include "control/interrupt.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/scheduler/preemption.h"

namespace teson {
namespace {

constexpr size_t kLongestReason = 255;  // AttemptEnd::reason
constexpr std::string_view kAction = "teson:Interrupt";

std::string instance_text(const Instance& instance) {
  return fmt::format("instance {} of compute environment '{}'", instance.id.text(), instance.environment);
}

// Those with a live attempt of the job, or of its children.
Result<std::set<InstanceId>> instances_of(const State& state, const JobId& id) {
  const Job* job = state.job(id);
  if (!job && !state.is_unfinished(id)) return not_found(fmt::format("Job '{}' is not live", id.text()));
  std::set<InstanceId> out;
  if (job && job->array) {
    for (int index = 0; index < job->spec.array->size; ++index) {
      const Job* child = state.job(id.child(index));
      if (const Attempt* live = child ? live_attempt(*child) : nullptr) out.insert(live->instance);
    }
  } else if (const Attempt* live = job ? live_attempt(*job) : nullptr) {
    out.insert(live->instance);
  }
  if (out.empty()) {
    return conflict(fmt::format("Job '{}' is {} and has no attempt that could be interrupted", id.text(),
                                job ? status_name(*job) : "waiting"));
  }
  return out;
}

Status may_interrupt(const State& state, const InstanceState& instance, const command::Interrupt& c) {
  for (const JobId& id : state.jobs_on(instance.value.id)) {
    const std::string& owner = state.job(id.parent())->spec.owner;
    if (may_change(c.by, owner)) continue;
    return not_theirs(c.by, kAction, fmt::format("job/{} (on {})", id.text(), instance_text(instance.value)), owner);
  }
  if (instance.value.market == Market::kSpot || c.force) return {};
  return conflict(
      fmt::format("The {} is on-demand, and only spot work is preemptible: with --force it is interrupted "
                  "all the same",
                  instance_text(instance.value)));
}

}  // namespace

std::unexpected<Error> not_theirs(const Caller& by, std::string_view action, const std::string& resource,
                                  std::string_view owner) {
  return fail(ErrorKind::kDenied,
              fmt::format("User: {} is not authorized to perform: {} on resource: {} because it is {}'s: ask {} or an "
                          "admin to do it",
                          by.name, action, resource, owner_name(owner), owner_name(owner)));
}

Result<Handled> handle_interrupt(const State& state, const command::Interrupt& c, Instant now) {
  std::set<InstanceId> ids;
  if (const auto* job = std::get_if<JobId>(&c.what)) {
    auto found = instances_of(state, *job);
    if (!found) return std::unexpected(found.error());
    ids = std::move(*found);
  } else {
    const InstanceId id = std::get<InstanceId>(c.what);
    const auto found = state.instances().find(id);
    if (found == state.instances().end()) return not_found(fmt::format("Instance '{}' does not exist", id.text()));
    if (found->second.attempts == 0) {
      return conflict(fmt::format("Nothing runs on the {}: it ends by itself", instance_text(found->second.value)));
    }
    ids.insert(id);
  }
  Handled out;
  for (const InstanceId& id : ids) {
    const InstanceState& instance = state.instances().at(id);
    if (auto status = may_interrupt(state, instance, c); !status) return std::unexpected(status.error());
    out.accepted.interrupted.push_back(id);
    if (instance.value.interruption) continue;
    std::string reason = fmt::format("{}by {}", kInterrupted, c.by.name);
    if (!c.reason.empty()) reason += ": " + c.reason;
    out.facts.emplace_back(make_interruption(state, instance, now, std::move(reason), std::nullopt));
  }
  return out;
}

std::string host_terminated_text(const InstanceId& instance) {
  return fmt::format("Host EC2 (instance {}) terminated.", instance.text());
}

void judge_interrupted(const State& state, const Job& job, const Attempt& attempt, AttemptEnd& end) {
  const auto& interruption = state.instances().at(attempt.instance).value.interruption;
  if (!interruption || job.stop) return;
  if (end.cause != EndCause::kStopped && end.cause != EndCause::kLost) return;
  if (end.cause == EndCause::kStopped && end.exit_code == 0) {
    end.cause = EndCause::kExited;
    return;
  }
  end.cause = EndCause::kLost;
  end.status_reason = host_terminated_text(attempt.instance);
  end.reason = end.reason.empty() ? interruption->reason : interruption->reason + "; " + end.reason;
  if (end.reason.size() <= kLongestReason) return;
  size_t size = kLongestReason - 3;
  while (size > 0 && (static_cast<unsigned char>(end.reason[size]) & 0xC0) == 0x80) --size;
  end.reason = end.reason.substr(0, size) + "...";
}

std::optional<Duration> interrupted_grace_left(const State& state, const Job& job, Instant now) {
  const Attempt* attempt = live_attempt(job);
  const auto found = attempt ? state.instances().find(attempt->instance) : state.instances().end();
  if (found == state.instances().end() || !found->second.value.interruption) return std::nullopt;
  return std::clamp(found->second.value.interruption->at + job.spec.grace - now, Duration{}, job.spec.grace);
}

}  // namespace teson
