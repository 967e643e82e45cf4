#include "control/handle.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "control/interrupt.h"

namespace teson {
namespace {

Handled one(FactBody body) {
  Handled out;
  out.facts.push_back(std::move(body));
  return out;
}

template <class T>
Result<T> changed(T value, const std::function<Status(T&)>& change) {
  if (auto status = change(value); !status) return std::unexpected(status.error());
  return value;
}

struct Handler {
  const State& state;
  Instant now;

  // A child is its array's owner's.
  Status may_touch_job(const JobId& id, const Caller& by, std::string_view action) const {
    const Job* job = state.job(id.parent());
    if (!job || may_change(by, job->spec.owner)) return {};
    return not_theirs(by, fmt::format("batch:{}", action), "job/" + id.text(), job->spec.owner);
  }

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
    if (auto status = policy_exists(c.value); !status) return std::unexpected(status.error());
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
    if (auto status = policy_exists(*value); !status) return std::unexpected(status.error());
    if (value->policy.empty() != found->second.value.policy.empty()) {
      return invalid(
          fmt::format("schedulingPolicyArn: queue '{}' was made {} a scheduling policy and stays so: one "
                      "may replace another, but none may come or go",
                      c.name, value->policy.empty() ? "with" : "without"));
    }
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
    // Newest first: the end of an array's children may be that of younger arrays, never of older ones.
    for (const auto& [order, id] : found->second.jobs | std::views::reverse) {
      if (id.is_child()) continue;  // its array stops it
      append_stop(out.facts, *state.job(id), {StopKind::kTerminate, "Job queue deleted", now});
    }
    return out;
  }

  Result<Handled> operator()(const command::CreatePolicy& c) const {
    if (state.policies().contains(c.value.name)) {
      return conflict(fmt::format("Object already exists: scheduling policy '{}'", c.value.name));
    }
    SchedulingPolicy value = c.value;
    value.created = now;
    return one(fact::PolicyPut{std::move(value)});
  }

  Result<Handled> operator()(const command::UpdatePolicy& c) const {
    const auto found = state.policies().find(c.name);
    if (found == state.policies().end()) {
      return not_found(fmt::format("Scheduling policy '{}' does not exist", c.name));
    }
    auto value = changed(found->second, c.change);
    if (!value) return std::unexpected(value.error());
    return one(fact::PolicyPut{std::move(*value)});
  }

  Result<Handled> operator()(const command::DeletePolicy& c) const {
    if (!state.policies().contains(c.name)) return Handled{};
    for (const auto& [name, queue] : state.queues()) {
      if (queue.value.policy == c.name) {
        return conflict(
            fmt::format("Cannot delete, found existing JobQueue relationship: queue '{}' uses scheduling "
                        "policy '{}'",
                        name, c.name));
      }
    }
    return one(fact::PolicyDeleted{c.name});
  }

  Result<Handled> operator()(const command::CreateConsumable& c) const {
    if (state.consumables().contains(c.value.name)) {
      return conflict(fmt::format("Object already exists: consumable resource '{}'", c.value.name));
    }
    ConsumableResource value = c.value;
    value.created = now;
    return one(fact::ConsumablePut{std::move(value)});
  }

  Result<Handled> operator()(const command::UpdateConsumable& c) const {
    const auto found = state.consumables().find(c.name);
    if (found == state.consumables().end()) {
      return not_found(fmt::format("Consumable resource '{}' does not exist", c.name));
    }
    auto value = changed(found->second.value, c.change);
    if (!value) return std::unexpected(value.error());
    return one(fact::ConsumablePut{std::move(*value)});
  }

  Result<Handled> operator()(const command::DeleteConsumable& c) const {
    const auto found = state.consumables().find(c.name);
    if (found == state.consumables().end()) return Handled{};
    if (!found->second.jobs.empty()) {
      return conflict(fmt::format("Cannot delete: {} live jobs ask for consumable resource '{}', the oldest is {}",
                                  found->second.jobs.size(), c.name, found->second.jobs.begin()->second.text()));
    }
    return one(fact::ConsumableDeleted{c.name});
  }

  Status consumables_exist(const JobSpec& spec) const {
    for (const ConsumableAsk& ask : spec.consumables) {
      if (!state.consumables().contains(ask.name)) {
        return invalid(fmt::format("Consumable resource '{}' does not exist: create it first", ask.name));
      }
    }
    return {};
  }

  Status policy_exists(const Queue& queue) const {
    if (queue.policy.empty() || state.policies().contains(queue.policy)) return {};
    return invalid(fmt::format("schedulingPolicyArn: scheduling policy '{}' does not exist", queue.policy));
  }

  Result<Handled> operator()(const command::RegisterDefinition& c) const {
    JobDefinition value = c.value;
    const auto found = state.definitions().find(value.name);
    value.revision = found == state.definitions().end() ? 1 : found->second.rbegin()->first + 1;
    value.active = true;
    value.created = now;
    value.owner = kept_owner(c.by);
    if (found != state.definitions().end()) {
      for (const auto& [revision, earlier] : found->second | std::views::reverse) {
        if (!earlier.active) continue;
        if (!may_change(c.by, earlier.owner)) {
          return not_theirs(c.by, "batch:RegisterJobDefinition",
                            fmt::format("job-definition/{} (register under another name)", value.name), earlier.owner);
        }
        break;
      }
    }
    Handled out = one(fact::DefinitionPut{value});
    out.accepted.revision = value.revision;
    return out;
  }

  Result<Handled> operator()(const command::UpdateDefinition& c) const {
    const auto found = state.definitions().find(c.name);
    if (found == state.definitions().end() || !found->second.contains(c.revision)) {
      return not_found(fmt::format("Job definition '{}:{}' does not exist", c.name, c.revision));
    }
    const JobDefinition& before = found->second.at(c.revision);
    if (!may_change(c.by, before.owner)) {
      return not_theirs(c.by, fmt::format("batch:{}", c.action),
                        fmt::format("job-definition/{}:{}", c.name, c.revision), before.owner);
    }
    auto value = changed(before, c.change);
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
    if (auto status = share_is_right(c.spec, queue->second.value); !status) return std::unexpected(status.error());
    if (auto status = consumables_exist(c.spec); !status) return std::unexpected(status.error());
    Handled out;
    std::vector<JobId> waiting_for;
    std::optional<JobId> failed;
    for (const JobId& id : c.spec.depends_on) {
      switch (standing_of(id, c)) {
        case Standing::kWaiting:
          waiting_for.push_back(id);
          break;
        case Standing::kUnknown:
          out.accepted.unknown_dependencies.push_back(id);
          break;
        case Standing::kFailed:
          if (!failed && !c.spec.after_any) failed = id;
          break;
        case Standing::kSucceeded:
          break;
      }
    }
    auto doomed = doomed_children(c, out.accepted.unknown_dependencies);
    if (!doomed) return std::unexpected(doomed.error());
    if (!out.accepted.unknown_dependencies.empty()) return out;
    if (failed) {
      waiting_for = {*failed};
      doomed->clear();  // all of them fail, and with this reason
    }
    out.facts.emplace_back(fact::JobSubmitted{c.id, std::move(c.spec), std::move(waiting_for), std::move(*doomed)});
    if (failed) out.facts.push_back(fact::JobFailed{c.id, kDependentFailed + failed->text()});
    return out;
  }

  static Status share_is_right(const JobSpec& spec, const Queue& queue) {
    if (queue.policy.empty() == spec.share.empty()) return {};
    if (spec.share.empty()) {
      return invalid(
          fmt::format("'shareIdentifier' is missing: job queue '{}' has a fair-share scheduling policy ('{}')",
                      queue.name, queue.policy));
    }
    return invalid(fmt::format(
        "'shareIdentifier' must not be given: job queue '{}' has no fair-share scheduling policy", queue.name));
  }

  enum class Standing { kWaiting, kSucceeded, kFailed, kUnknown };
  Standing standing_of(const JobId& id, const command::SubmitJob& c) const {
    if (state.is_unfinished(id)) return Standing::kWaiting;
    if (const auto letter = state.child_letter(id)) {
      if (*letter == child::kSucceeded) return Standing::kSucceeded;
      if (*letter == child::kFailed) return Standing::kFailed;
    }
    const auto ended = c.finished_dependencies.find(id);
    if (ended == c.finished_dependencies.end()) return Standing::kUnknown;
    return ended->second.succeeded ? Standing::kSucceeded : Standing::kFailed;
  }

  // N_TO_N: the children whose counterpart in an array that has ended had failed.
  Result<std::vector<int>> doomed_children(const command::SubmitJob& c, std::vector<JobId>& unknown) const {
    std::vector<int> doomed;
    if (!c.spec.array) return doomed;
    for (const JobId& id : c.spec.array->n_to_n) {
      const Job* live = state.job(id);
      const auto ended = c.finished_dependencies.find(id);
      if (!live && ended == c.finished_dependencies.end()) {
        unknown.push_back(id);
        continue;
      }
      std::string letters;
      if (!live) {
        letters = ended->second.children;
      } else if (live->array) {
        letters = live->array->children;
      }
      if (letters.empty()) return invalid(fmt::format("'dependsOn': N_TO_N: job {} is not an array job", id.text()));
      if (std::ssize(letters) != c.spec.array->size) {
        return invalid(
            fmt::format("'dependsOn': N_TO_N needs arrays of one size: this one has {} children, job {} has {}",
                        c.spec.array->size, id.text(), letters.size()));
      }
      if (c.spec.after_any) continue;
      // A live array's failures so far count as well: it tells only of those to come.
      for (size_t i = 0; i < letters.size(); ++i) {
        if (letters[i] == child::kFailed) doomed.push_back(static_cast<int>(i));
      }
    }
    std::sort(doomed.begin(), doomed.end());
    doomed.erase(std::unique(doomed.begin(), doomed.end()), doomed.end());
    return doomed;
  }

  // Pending and runnable jobs fail at once; for running ones a cancel does nothing, as on AWS.
  void append_stop(std::vector<FactBody>& facts, const Job& job, StopRequest request) const {
    if (job.array) return append_array_stop(facts, job, request);
    const bool live = live_attempt(job) != nullptr;
    if (live && request.kind == StopKind::kCancel) return;
    // The first word on why stands: a second stop must not rewrite it.
    if (job.stop) return;
    facts.push_back(fact::StopRequested{job.id, request});
    if (!live) facts.push_back(fact::JobFailed{job.id, request.reason});
  }

  // A cancel leaves the children that run; a terminate may follow it.
  void append_array_stop(std::vector<FactBody>& facts, const Job& array, const StopRequest& request) const {
    const bool more = array.stop && array.stop->kind == StopKind::kCancel && request.kind == StopKind::kTerminate;
    if (array.stop && !more) return;
    facts.push_back(fact::StopRequested{array.id, request});
    std::vector<const Job*> begun;
    bool any_waits = false;
    for (int index = 0; index < array.spec.array->size; ++index) {
      const JobId id = array.id.child(index);
      if (const Job* child = state.job(id)) {
        begun.push_back(child);
      } else {
        any_waits = any_waits || state.is_unfinished(id);
      }
    }
    // First: the array is gone with its last child.
    if (any_waits) facts.push_back(fact::ChildrenFailed{array.id, 0, array.spec.array->size - 1, request.reason});
    for (const Job* child : begun) append_stop(facts, *child, request);
  }

  Result<Handled> operator()(const command::StopJob& c) const {
    const Job* job = state.job(c.id);
    Handled out;
    const std::string_view action = c.kind == StopKind::kCancel ? "CancelJob" : "TerminateJob";
    if (auto status = may_touch_job(c.id, c.by, action); !status) return std::unexpected(status.error());
    if (!job) {
      const auto letter = state.child_letter(c.id);
      if (!letter || *letter == child::kAbsent) return not_found(fmt::format("Job '{}' is not live", c.id.text()));
      if (state.is_unfinished(c.id)) {
        out.facts.push_back(fact::ChildrenFailed{c.id.parent(), c.id.index, c.id.index, c.reason});
      }
      return out;
    }
    append_stop(out.facts, *job, {c.kind, c.reason, now});
    return out;
  }

  Result<Handled> operator()(const command::Interrupt& c) const { return handle_interrupt(state, c, now); }

  Result<Handled> operator()(const command::UpdateJobTags& c) const {
    const Job* job = state.job(c.id);
    if (!job) return not_found(fmt::format("Job '{}' is not live", c.id.text()));
    if (auto status = may_touch_job(c.id, c.by, c.action); !status) return std::unexpected(status.error());
    Tags tags = job->spec.tags;
    std::optional<int> throttle;
    if (auto status = c.change(tags, throttle); !status) return std::unexpected(status.error());
    return one(fact::JobTagged{c.id, std::move(tags), throttle});
  }
};

}  // namespace

Result<Handled> handle(const State& state, Command command, Instant now) {
  return std::visit(Handler{state, now}, command);
}

}  // namespace teson
