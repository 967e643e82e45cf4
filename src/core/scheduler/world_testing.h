// A state, a hand-moved clock and the decisions: for tests of the core's rules.
#pragma once

#include <string>
#include <vector>

#include "core/scheduler/decide.h"
#include "core/state/state.h"

namespace teson {

// A small world: applies facts at a hand-moved time and runs decisions to their fixed point.
class World {
 public:
  explicit World(Resources host) : state(make_site(host)) {}

  static Site make_site(Resources host) {
    Site site;
    site.host = host;
    return site;
  }

  void fact(FactBody body) { state.apply(Fact{now, std::move(body)}); }

  std::vector<FactBody> decide(bool may_start = true) {
    std::vector<FactBody> out;
    while (auto next = next_decision(state, now, may_start)) {
      out.push_back(*next);
      fact(std::move(*next));
    }
    return out;
  }

  void environment(const std::string& name, std::vector<InstanceType> types, int64_t max_vcpus, int64_t min_vcpus = 0) {
    ComputeEnvironment e;
    e.name = name;
    e.instance_types = std::move(types);
    e.max_vcpus = max_vcpus;
    e.min_vcpus = min_vcpus;
    fact(fact::EnvironmentPut{e});
  }

  void queue(const std::string& name, std::vector<std::string> environments, int priority = 1) {
    Queue q;
    q.name = name;
    q.environments = std::move(environments);
    q.priority = priority;
    fact(fact::QueuePut{q});
  }

  static JobSpec spec(const std::string& queue_name, Resources ask) {
    JobSpec spec;
    spec.name = "job";
    spec.queue = queue_name;
    spec.definition = "def";
    spec.image = "host";
    spec.resources = ask;
    return spec;
  }

  JobId submit(const JobSpec& spec, std::vector<JobId> waiting_for = {}) {
    const JobId id{Uuid{0, ++submitted}};
    fact(fact::JobSubmitted{id, spec, std::move(waiting_for), {}});
    return id;
  }

  JobId submit(const std::string& queue_name, Resources ask, std::vector<JobId> after = {}) {
    JobSpec asked = spec(queue_name, ask);
    asked.name += std::to_string(submitted + 1);
    asked.depends_on = after;
    return submit(asked, std::move(after));
  }

  void end(const JobId& id, fact::Verdict verdict) {
    const Attempt& attempt = *live_attempt(*state.job(id));
    AttemptEnd attempt_end;
    attempt_end.exit_code = verdict == fact::Verdict::kSucceeded ? 0 : 1;
    attempt_end.ended = now;
    fact(fact::AttemptEnded{{id, attempt.number}, attempt_end, verdict, "Essential container in task exited"});
  }

  std::string status(const JobId& id) const {
    const Job* job = state.job(id);
    return job ? status_name(*job) : "gone";
  }
  const Attempt& attempt(const JobId& id) const { return *live_attempt(*state.job(id)); }

  Instant now{1'000'000};
  uint64_t submitted = 0;
  State state;
};

inline constexpr Resources kHost{4000, 8000, 2};
inline InstanceType type(const std::string& name, Resources size) { return {name, size, Money{1000}, Money{300}}; }

}  // namespace teson
