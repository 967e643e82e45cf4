#include "sim/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "control/ended_dependencies.h"

namespace teson::sim {

Workload::Workload(Prng prng, Server server, Surroundings around)
    : prng_(prng),
      server_(std::move(server)),
      around_(std::move(around)),
      arrays_share_(prng_.chance(0.5) ? 0.3 * prng_.uniform() : 0.02) {}

void Workload::send_something(bool may_submit) {
  if (auto command = random_command()) return send(std::move(*command), {});
  if (may_submit) {
    const auto submit = std::make_shared<const command::SubmitJob>(random_submit());
    jobs_.push_back(submit->id);
    return send_submit(submit);
  }
  if (chance(0.04)) send(chance(0.7) ? random_job_command() : random_registry_command(), {});
}

void Workload::send(Command command, Submit submit) {
  const uint64_t request = ++requests_;
  outstanding_[request] = submit;
  const bool sent =
      server_.submit(std::move(command), [this, request, submit = std::move(submit)](Result<Accepted> result) {
        SIM_REQUIRE(outstanding_.erase(request) == 1, "request {} is answered twice", request);
        if (result) {
          around_.coverage.met(Met::kCommandAccepted);
        } else if (result.error().kind == ErrorKind::kUnavailable) {
          around_.coverage.met(Met::kCommandUnavailable);
        } else {
          around_.coverage.met(Met::kCommandRejected);
        }
        if (submit) answered(submit, result);
      });
  if (!sent) outstanding_.erase(request);
}

void Workload::send_submit(Submit submit) { send(*submit, submit); }

void Workload::answered(const Submit& submit, const Result<Accepted>& result) {
  const bool durable = around_.ledger.find(submit->id) != nullptr;
  if (result && !result->unknown_dependencies.empty()) {
    return look_up_dependencies(*submit, result->unknown_dependencies);
  }
  if (result) {
    SIM_REQUIRE(durable, "the submit of job {} is acknowledged and not durable", submit->id.text());
    return;
  }
  if (result.error().kind != ErrorKind::kUnavailable) {
    SIM_REQUIRE(!durable, "the submit of job {} is rejected and durable", submit->id.text());
    return;
  }
  SIM_REQUIRE(!durable || !server_.last_failure_kept_nothing(),
              "the submit of job {} is refused with nothing kept, and is durable", submit->id.text());
  if (chance(0.7)) follow_up_later(submit);
}

void Workload::look_up_dependencies(command::SubmitJob submit, const std::vector<JobId>& unknown) {
  around_.coverage.met(Met::kUnknownDependency);
  auto ended = find_ended(around_.history, unknown);
  for (auto& [id, end] : *ended) submit.finished_dependencies[id] = std::move(end);
  // One that neither the loop nor the history knows does not exist: the client's mistake, and the end of it.
  const bool all = std::ranges::all_of(unknown, [&](const JobId& id) { return ended->contains(id); });
  if (all) send_submit(std::make_shared<command::SubmitJob>(std::move(submit)));
}

void Workload::connection_lost() {
  for (auto& [request, submit] : std::exchange(outstanding_, {})) {
    around_.coverage.met(Met::kCommandUnanswered);
    if (submit && chance(0.7)) follow_up_later(submit);
  }
}

void Workload::follow_up_later(Submit submit) {
  ++follow_ups_;
  // At once, or so late that the job may have ended meanwhile.
  const bool late = chance(0.5) || around_.sabotage.client_repeats_blindly;
  const Duration wait = Duration::millis(static_cast<int64_t>(below(late ? 60'000 : 3000)) + 1);
  around_.timeline.after(wait, [this, submit] {
    --follow_ups_;
    follow_up(submit);
  });
}

void Workload::follow_up(const Submit& submit) {
  if (around_.sabotage.client_repeats_blindly) return send_submit(submit);
  const uint64_t request = ++requests_;
  outstanding_[request] = submit;
  const bool sent = server_.ask([this, request, submit](const Controller& controller) {
    SIM_REQUIRE(outstanding_.erase(request) == 1, "question {} is answered twice", request);
    if (controller.state().job(submit->id)) {
      SIM_REQUIRE(around_.ledger.find(submit->id), "job {} is shown and is not durable", submit->id.text());
      return around_.coverage.met(Met::kSubmitRepeatedLive);
    }
    const auto ended = around_.history.find({&submit->id, 1});
    if (!ended->empty()) return around_.coverage.met(Met::kSubmitRepeatedEnded);
    SIM_REQUIRE(!around_.ledger.find(submit->id), "job {} is durable, and neither live nor archived",
                submit->id.text());
    around_.coverage.met(Met::kSubmitRepeatedAgain);
    send_submit(submit);
  });
  if (!sent) {
    outstanding_.erase(request);
    follow_up_later(submit);
  }
}

void Workload::open_everything() {
  for (const auto& [name, queue] : around_.ledger.queues()) {
    send(command::UpdateQueue{name,
                              [](Queue& q) -> Status {
                                q.enabled = true;
                                return {};
                              }},
         {});
  }
  for (const auto& [name, environment] : around_.ledger.environments()) {
    send(command::UpdateEnvironment{name,
                                    [](ComputeEnvironment& e) -> Status {
                                      e.enabled = true;
                                      return {};
                                    }},
         {});
  }
}

// ---- What is asked ----

// None: it is time for a job.
std::optional<Command> Workload::random_command() {
  const Ledger& ledger = around_.ledger;
  if (ledger.environments().size() < 2 || (ledger.environments().size() < 5 && chance(0.01))) {
    return command::CreateEnvironment{random_environment(fmt::format("e{}", below(6)))};
  }
  if (ledger.policies().empty() || (ledger.policies().size() < 3 && chance(0.01))) {
    return command::CreatePolicy{random_policy(fmt::format("p{}", below(3)))};
  }
  if (ledger.consumable_count() == 0 || (ledger.consumable_count() < 3 && chance(0.01))) {
    ConsumableResource consumable;
    consumable.name = fmt::format("c{}", below(3));
    consumable.kind = chance(0.5) ? ConsumableKind::kReplenishable : ConsumableKind::kNonReplenishable;
    consumable.total = static_cast<int64_t>(below(6)) + 1;
    return command::CreateConsumable{consumable};
  }
  if (ledger.queues().empty() || (ledger.queues().size() < 4 && chance(0.02))) {
    Queue queue;
    queue.name = fmt::format("q{}", below(5));
    queue.priority = static_cast<int>(below(3));
    queue.environments = random_environment_order();
    if (chance(0.4)) queue.policy = fmt::format("p{}", below(3));
    if (chance(0.3)) {
      const auto seconds = static_cast<int64_t>(below(100)) + 1;
      queue.time_limits = {{"MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE", seconds},
                           {"CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", 2 * seconds}};
    }
    return command::CreateQueue{queue};
  }
  if (chance(0.025)) return random_registry_command();
  if (chance(0.09) && !jobs_.empty()) return random_job_command();
  return std::nullopt;
}

Command Workload::random_registry_command() {
  const std::string queue = fmt::format("q{}", below(5));
  const std::string environment = fmt::format("e{}", below(6));
  const bool on = chance(0.8);
  switch (below(12)) {
    case 10:
      return command::UpdateConsumable{fmt::format("c{}", below(3)),
                                       [total = static_cast<int64_t>(below(9))](ConsumableResource& c) -> Status {
                                         c.total = total;
                                         return {};
                                       }};
    case 11:
      return command::DeleteConsumable{fmt::format("c{}", below(3))};
    case 0:
      // Mostly one that may go: disabled, and used by no queue.
      for (const auto& [name, value] : around_.ledger.environments()) {
        const bool used = std::ranges::any_of(around_.ledger.queues(), [&name](const auto& q) {
          return std::ranges::find(q.second.environments, name) != q.second.environments.end();
        });
        if (used || chance(0.3)) continue;
        if (!value.enabled) return command::DeleteEnvironment{name};
        return command::UpdateEnvironment{name, [](ComputeEnvironment& e) -> Status {
                                            e.enabled = false;
                                            return {};
                                          }};
      }
      return command::DeleteEnvironment{environment};
    case 8:
      return command::DeletePolicy{fmt::format("p{}", below(3))};
    case 9:
      return command::UpdatePolicy{fmt::format("p{}", below(3)),
                                   [fresh = random_policy("")](SchedulingPolicy& p) -> Status {
                                     p.shares = fresh.shares;
                                     p.compute_reservation = fresh.compute_reservation;
                                     return {};
                                   }};
    case 1:
      return command::DeleteQueue{queue};
    case 2:
      return command::UpdateQueue{queue, [on](Queue& q) -> Status {
                                    q.enabled = on;
                                    return {};
                                  }};
    case 3:
      return command::UpdateQueue{queue, [order = random_environment_order(), p = below(3)](Queue& q) -> Status {
                                    q.environments = order;
                                    q.priority = static_cast<int>(p);
                                    return {};
                                  }};
    case 4:
      return command::UpdateEnvironment{environment, [on](ComputeEnvironment& e) -> Status {
                                          e.enabled = on;
                                          return {};
                                        }};
    case 5: {
      ComputeEnvironment fresh = random_environment(environment);
      return command::UpdateEnvironment{environment, [fresh](ComputeEnvironment& e) -> Status {
                                          if (fresh.max_vcpus > 100) return invalid("maxvCpus: too large");
                                          e.min_vcpus = fresh.min_vcpus;
                                          e.max_vcpus = fresh.max_vcpus;
                                          e.instance_types = fresh.instance_types;
                                          return {};
                                        }};
    }
    case 6: {
      JobDefinition definition;
      definition.name = fmt::format("d{}", below(3));
      return command::RegisterDefinition{definition};
    }
    default:
      return command::UpdateDefinition{fmt::format("d{}", below(3)), static_cast<int>(below(4)),
                                       [](JobDefinition& d) -> Status {
                                         d.active = false;
                                         return {};
                                       }};
  }
}

Command Workload::random_job_command() {
  const JobId id = recent_job();
  switch (below(4)) {
    case 3:
      return command::Interrupt{id, chance(0.3), "a rehearsal"};
    case 0:
      return command::StopJob{id, StopKind::kCancel, "no longer wanted"};
    case 1:
      return command::StopJob{id, StopKind::kTerminate, "stopped by its user"};
    default:
      return command::UpdateJobTags{id, [n = below(100)](Tags& tags, std::optional<int>& throttle) -> Status {
                                      tags["n"] = std::to_string(n);
                                      if (n < 50) throttle = static_cast<int>(n / 5);
                                      return {};
                                    }};
  }
}

command::SubmitJob Workload::random_submit() {
  const auto& queues = around_.ledger.queues();
  const auto queue = std::next(queues.begin(), static_cast<std::ptrdiff_t>(below(queues.size())));
  const bool misspelt = chance(0.01);
  command::SubmitJob submit;
  submit.id = random_id();
  JobSpec& spec = submit.spec;
  spec.name = "job-" + std::to_string(jobs_.size());
  spec.queue = misspelt ? "no-such-queue" : queue->first;
  spec.definition = "d" + std::to_string(below(3));
  spec.definition_revision = 1;
  spec.image = chance(0.02) ? "unknown/image:1" : "host";
  spec.command = {"train", "--quick"};
  spec.resources = random_resources();
  spec.retry = random_retry();
  if (chance(0.15)) spec.attempt_timeout = Duration::seconds(static_cast<int64_t>(below(6)) + 1);
  spec.grace = Duration::seconds(static_cast<int64_t>(below(10)));
  spec.interruptions_use_attempts = chance(0.7);
  if (chance(0.2) && !jobs_.empty()) {
    const uint64_t count = below(3) + 1;
    for (uint64_t i = 0; i < count; ++i) spec.depends_on.push_back(chance(0.02) ? random_id() : recent_job());
  }
  const auto known = around_.ledger.queues().find(spec.queue);
  const bool shared = known != around_.ledger.queues().end() && !known->second.policy.empty();
  if (shared != chance(0.02)) spec.share = fmt::format("s{}", below(5));
  spec.priority = static_cast<int>(below(3));
  spec.after_any = chance(0.1);
  const std::string consumable = fmt::format("c{}", below(3));
  if (around_.ledger.has_consumable(consumable) && chance(0.15)) {
    spec.consumables.push_back({consumable, static_cast<int64_t>(below(3)) + 1});
  }
  if (chance(arrays_share_)) spec.array = random_array(submit.id);
  return submit;
}

SchedulingPolicy Workload::random_policy(const std::string& name) {
  SchedulingPolicy policy;
  policy.name = name;
  policy.decay_seconds = static_cast<int64_t>(below(3)) * 30;
  if (chance(0.3)) policy.compute_reservation = static_cast<int>(below(100));
  if (chance(0.7)) policy.shares.push_back({"s0", 5'000});
  if (chance(0.5)) policy.shares.push_back({"s1*", 20'000});
  return policy;
}

ArraySpec Workload::random_array(const JobId& id) {
  ArraySpec array;
  // Few sizes, so that N_TO_N finds partners.
  constexpr int kSizes[] = {2, 3, 3, 5, 12, 40};
  array.size = kSizes[below(std::size(kSizes))];
  array.sequential = chance(0.25);
  if (chance(0.3)) array.throttle = static_cast<int>(below(3)) + 1;
  if (chance(0.15)) {
    for (int i = 0; i < array.size; ++i) {
      if (chance(0.5)) array.only.push_back(i);
    }
  }
  for (int tries = 0; tries < 3 && !arrays_.empty() && chance(0.3); ++tries) {
    const auto& [other, size] = arrays_[arrays_.size() - 1 - below(std::min<uint64_t>(10, arrays_.size()))];
    if (size == array.size || chance(0.02)) array.n_to_n.push_back(other);
  }
  arrays_.emplace_back(id, array.size);
  return array;
}

Resources Workload::random_resources() {
  constexpr int64_t kShares[] = {250, 500, 500, 1000, 1000, 1000, 2000, 4000};
  Resources out{kShares[below(std::size(kShares))], static_cast<int64_t>(below(16) + 1) * 128, 0};
  if (chance(0.2)) out.gpus = static_cast<int64_t>(below(2)) + 1;
  if (chance(0.01)) out.memory_mib = around_.site.host.memory_mib + 1;
  return out;
}

RetryStrategy Workload::random_retry() {
  RetryStrategy out;
  out.attempts = static_cast<int>(below(4)) + 1;
  if (!chance(0.3)) return out;
  const uint64_t count = below(3) + 1;
  out.rules.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    RetryRule rule;
    if (chance(0.4)) rule.on_status_reason = chance(0.5) ? "Host EC2*" : "Essential*";
    if (chance(0.3)) rule.on_reason = chance(0.5) ? "OutOfMemory*" : "*";
    if (chance(0.3)) rule.on_exit_code = chance(0.5) ? "1*" : "137";
    rule.action = chance(0.5) ? RetryAction::kRetry : RetryAction::kExit;
    out.rules.push_back(std::move(rule));
  }
  return out;
}

ComputeEnvironment Workload::random_environment(const std::string& name) {
  ComputeEnvironment out;
  out.name = name;
  out.enabled = chance(0.95);
  out.market = chance(0.5) ? Market::kSpot : Market::kOnDemand;
  out.max_vcpus = static_cast<int64_t>(below(20)) + (chance(0.95) ? 2 : 0);
  if (chance(0.02)) out.max_vcpus = 200;
  if (chance(0.3)) out.min_vcpus = static_cast<int64_t>(below(static_cast<uint64_t>(out.max_vcpus) + 1));
  if (chance(0.2)) return out;  // instances made to their jobs' sizes
  if (chance(0.7)) out.instance_types.push_back({"c.small", {2000, 4096, 0}, {1000}, {300}});
  if (chance(0.7)) out.instance_types.push_back({"c.large", {4000, 16384, 0}, {2000}, {600}});
  if (chance(0.5)) out.instance_types.push_back({"g.large", {4000, 16384, 1}, {9000}, {4000}});
  if (chance(0.5) || out.instance_types.empty()) {
    out.instance_types.push_back({"host", {64000, 1 << 20, 8}, {9999}, {999}});
  }
  return out;
}

std::vector<std::string> Workload::random_environment_order() {
  std::vector<std::string> out;
  for (const auto& [name, environment] : around_.ledger.environments()) {
    if (chance(0.6)) out.insert(chance(0.5) ? out.begin() : out.end(), name);
  }
  if (out.empty() || chance(0.03)) out.push_back(fmt::format("e{}", below(6)));
  return out;
}

// Mostly young ones: they are more often alive.
JobId Workload::recent_job() {
  if (!arrays_.empty() && chance(arrays_share_)) {
    const auto& [id, size] = arrays_[arrays_.size() - 1 - below(std::min<uint64_t>(10, arrays_.size()))];
    return id.child(static_cast<int>(below(static_cast<uint64_t>(size))));
  }
  const uint64_t back = below(chance(0.9) ? 20 : 500);
  return jobs_[jobs_.size() - 1 - std::min<uint64_t>(back, jobs_.size() - 1)];
}

JobId Workload::random_id() {
  const uint64_t high = prng_.next();
  return JobId{Uuid::from_random_bits(high, prng_.next())};
}

}  // namespace teson::sim
