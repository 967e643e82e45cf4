#include "control/handle.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/lifecycle/retry.h"

namespace teson {
namespace {

Handled one(FactBody body) { return Handled{{std::move(body)}, {}}; }

template <class T>
Result<T> changed(T value, const std::function<Status(T&)>& change) {
  if (auto status = change(value); !status) return std::unexpected(status.error());
  return value;
}

struct Handler {
  const State& state;
  Instant now;

  Status environments_exist(const Queue& queue) const {
    for (const std::string& name : queue.environments) {
      if (!state.environments().contains(name)) {
        return invalid(fmt::format("computeEnvironmentOrder: compute environment '{}' does not exist", name));
      }
    }
    return {};
  }

  Result<Handled> operator()(const command::CreateEnvironment& c) const {
    if (state.environments().contains(c.value.name)) {
      return conflict(fmt::format("Object already exists: compute environment '{}'", c.value.name));
    }
    ComputeEnvironment value = c.value;
    value.created = now;
    return one(fact::EnvironmentPut{std::move(value)});
  }

  Result<Handled> operator()(const command::UpdateEnvironment& c) const {
    const auto found = state.environments().find(c.name);
    if (found == state.environments().end()) {
      return not_found(fmt::format("Compute environment '{}' does not exist", c.name));
    }
    auto value = changed(found->second, c.change);
    if (!value) return std::unexpected(value.error());
    return one(fact::EnvironmentPut{std::move(*value)});
  }

  Result<Handled> operator()(const command::DeleteEnvironment& c) const {
    const auto found = state.environments().find(c.name);
    if (found == state.environments().end()) return Handled{};
    if (found->second.enabled) {
      return conflict(
          fmt::format("Cannot delete, resource is enabled: set compute environment '{}' to DISABLED first", c.name));
    }
    for (const auto& [name, queue] : state.queues()) {
      const auto& used = queue.value.environments;
      if (std::find(used.begin(), used.end(), c.name) != used.end()) {
        return conflict(
            fmt::format("Cannot delete, found existing JobQueue relationship: queue '{}' uses compute environment '{}'",
                        name, c.name));
      }
    }
    Handled out;
    for (const InstanceState* instance : state.instances_of(c.name)) {
      if (instance->attempts > 0) {
        return conflict(fmt::format("Cannot delete: compute environment '{}' still runs jobs on instance {}", c.name,
                                    instance->value.id.text()));
      }
      out.facts.push_back(fact::InstanceEnded{instance->value.id, "Compute environment deleted"});
    }
    out.facts.push_back(fact::EnvironmentDeleted{c.name});
    return out;
  }

  Result<Handled> operator()(const command::CreateQueue& c) const {
    if (state.queues().contains(c.value.name)) {
      return conflict(fmt::format("Object already exists: job queue '{}'", c.value.name));
    }
    if (auto status = environments_exist(c.value); !status) return std::unexpected(status.error());
    Queue value = c.value;
    value.created = now;
    return one(fact::QueuePut{std::move(value)});
  }

  Result<Handled> operator()(const command::UpdateQueue& c) const {
    const auto found = state.queues().find(c.name);
    if (found == state.queues().end()) return not_found(fmt::format("Job queue '{}' does not exist", c.name));
    if (found->second.value.deleting) return conflict(fmt::format("Job queue '{}' is being deleted", c.name));
    auto value = changed(found->second.value, c.change);
    if (!value) return std::unexpected(value.error());
    if (auto status = environments_exist(*value); !status) return std::unexpected(status.error());
    return one(fact::QueuePut{std::move(*value)});
  }

  // Its jobs are stopped; the queue itself goes when the last has ended (next_decision).
  Result<Handled> operator()(const command::DeleteQueue& c) const {
    const auto found = state.queues().find(c.name);
    if (found == state.queues().end() || found->second.value.deleting) return Handled{};
    if (found->second.value.enabled) {
      return conflict(fmt::format("Cannot delete, resource is enabled: set job queue '{}' to DISABLED first", c.name));
    }
    Queue value = found->second.value;
    value.deleting = true;
    Handled out = one(fact::QueuePut{std::move(value)});
    for (const auto& [order, id] : found->second.jobs) {
      append_stop(out.facts, *state.job(id), {StopKind::kTerminate, "Job queue deleted", now});
    }
    return out;
  }

  Result<Handled> operator()(const command::RegisterDefinition& c) const {
    JobDefinition value = c.value;
    const auto found = state.definitions().find(value.name);
    value.revision = found == state.definitions().end() ? 1 : found->second.rbegin()->first + 1;
    value.active = true;
    value.created = now;
    Handled out = one(fact::DefinitionPut{value});
    out.accepted.revision = value.revision;
    return out;
  }

  Result<Handled> operator()(const command::UpdateDefinition& c) const {
    const auto found = state.definitions().find(c.name);
    if (found == state.definitions().end() || !found->second.contains(c.revision)) {
      return not_found(fmt::format("Job definition '{}:{}' does not exist", c.name, c.revision));
    }
    auto value = changed(found->second.at(c.revision), c.change);
    if (!value) return std::unexpected(value.error());
    return one(fact::DefinitionPut{std::move(*value)});
  }

  Result<Handled> operator()(command::SubmitJob& c) const {
    if (state.job(c.id)) return Handled{};
    const auto queue = state.queues().find(c.spec.queue);
    if (queue == state.queues().end()) return not_found(fmt::format("Job queue '{}' does not exist", c.spec.queue));
    if (!queue->second.value.enabled) {
      return conflict(fmt::format("Job queue '{}' is DISABLED and takes no jobs: enable it first", c.spec.queue));
    }
    Handled out;
    std::vector<JobId> waiting_for;
    std::optional<JobId> failed;
    for (const JobId& id : c.spec.depends_on) {
      if (state.job(id)) {
        waiting_for.push_back(id);
      } else if (const auto ended = c.finished_dependencies.find(id); ended == c.finished_dependencies.end()) {
        out.accepted.unknown_dependencies.push_back(id);
      } else if (!ended->second && !failed) {
        failed = id;
      }
    }
    if (!out.accepted.unknown_dependencies.empty()) return out;
    out.facts.push_back(
        fact::JobSubmitted{c.id, std::move(c.spec), failed ? std::vector<JobId>{*failed} : std::move(waiting_for)});
    if (failed) out.facts.push_back(fact::JobFailed{c.id, "Dependent job failed: " + failed->text()});
    return out;
  }

  // Pending and runnable jobs fail at once; for running ones a cancel does nothing, as on AWS.
  static void append_stop(std::vector<FactBody>& facts, const Job& job, StopRequest request) {
    const bool live = live_attempt(job) != nullptr;
    if (live && request.kind == StopKind::kCancel) return;
    // The first word on why stands: a second stop must not rewrite it.
    if (job.stop) return;
    facts.push_back(fact::StopRequested{job.id, request});
    if (!live) facts.push_back(fact::JobFailed{job.id, request.reason});
  }

  Result<Handled> operator()(const command::StopJob& c) const {
    const Job* job = state.job(c.id);
    if (!job) return not_found(fmt::format("Job '{}' is not live", c.id.text()));
    Handled out;
    append_stop(out.facts, *job, {c.kind, c.reason, now});
    return out;
  }

  Result<Handled> operator()(const command::UpdateJobTags& c) const {
    const Job* job = state.job(c.id);
    if (!job) return not_found(fmt::format("Job '{}' is not live", c.id.text()));
    auto tags = changed(job->spec.tags, c.change);
    if (!tags) return std::unexpected(tags.error());
    return one(fact::JobTagged{c.id, std::move(*tags)});
  }
};

AttemptEnd lost_end(const Attempt& attempt, const AttemptLostReport& lost) {
  AttemptEnd end;
  end.cause = EndCause::kLost;
  end.ended = lost.at;
  end.status_reason = fmt::format("Host EC2 (instance {}) terminated.", attempt.instance.text());
  end.reason = lost.detail;
  if (attempt.started) end.usage.run = lost.at - *attempt.started;
  if (end.usage.run < Duration{}) end.usage.run = {};
  return end;
}

}  // namespace

Result<Handled> handle(const State& state, Command command, Instant now) {
  return std::visit(Handler{state, now}, command);
}

std::vector<FactBody> handle(const State& state, const AttemptReport& report, Instant now) {
  const Job* job = state.job(report.id.job);
  const Attempt* attempt = job ? live_attempt(*job) : nullptr;
  if (!attempt || attempt->number != report.id.number) return {};

  if (const auto* started = std::get_if<AttemptStartedReport>(&report.body)) {
    if (attempt->started) return {};
    return {fact::AttemptStarted{report.id, started->at, attempt->log_stream}};
  }
  std::vector<FactBody> facts;
  AttemptEnd end;
  if (const auto* ended = std::get_if<AttemptEndedReport>(&report.body)) {
    end = ended->end;
    // A quick program's start may have gone unreported: its log stream must exist all the same.
    if (!attempt->started && end.cause != EndCause::kLaunchFailed) {
      facts.push_back(fact::AttemptStarted{report.id, end.ended - end.usage.run, attempt->log_stream});
    }
  } else {
    end = lost_end(*attempt, std::get<AttemptLostReport>(report.body));
  }
  if (end.ended.micros == 0) end.ended = now;
  Outcome outcome = outcome_of(*job, end);
  facts.push_back(fact::AttemptEnded{report.id, std::move(end), outcome.verdict, std::move(outcome.status_reason)});
  return facts;
}

}  // namespace teson
