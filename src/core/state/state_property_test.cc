// The life of jobs under random legal facts: after each one a state rebuilt from its snapshot is the same state, and
// every index agrees with the jobs themselves.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/explain/fit.h"
#include "core/explain/waiting.h"
#include "core/lifecycle/retry.h"
#include "core/scheduler/decide.h"
#include "core/state/state.h"

namespace teson {
namespace {

Site site() { return Site{.host = {8000, 16384, 2}}; }

// What a reader could tell two states apart by. An instance's idle_since is left out: a snapshot forgets it, which only
// lets an idle instance stay a little longer.
struct Portrait {
  std::vector<std::string> lines;

  explicit Portrait(const State& state) {
    for (const auto& [name, queue] : state.queues()) {
      for (const auto& [order, id] : queue.jobs) lines.push_back(job_line(*state.job(id)));
      for (const auto& [order, id] : queue.ready) lines.push_back("ready " + id.text());
      for (const auto& [order, id] : queue.held) {
        lines.push_back("held " + std::to_string(order) + waiting_reason(state, *state.job(id)));
      }
    }
    for (const auto& [id, instance] : state.instances()) {
      lines.push_back(id.text() + " " + resources_text(instance.used) + " " + std::to_string(instance.attempts));
    }
    for (const JobId& id : state.ready_dependents()) lines.push_back("may become ready " + id.text());
    for (const auto& [id, why] : state.doomed_dependents()) lines.push_back("doomed " + id.text());
    lines.push_back("host " + resources_text(state.host_used()) + " next " + std::to_string(state.next_order()));
    for (const int gpu : state.free_gpus(99)) lines.push_back("free GPU " + std::to_string(gpu));
  }

  static std::string job_line(const Job& job) {
    std::string out = job.id.text() + " " + std::to_string(job.order) + " " + status_name(job) + " past " +
                      std::to_string(job.past.size());
    if (const auto* pending = std::get_if<job_state::Pending>(&job.state)) {
      for (const JobId& id : pending->waiting_for) out += " waits for " + id.text();
    }
    if (const Attempt* attempt = live_attempt(job)) out += " on " + attempt->instance.text();
    return out + (job.stop ? " stopped" : "");
  }
};

// Makes one legal fact after another out of random numbers.
class Life {
 public:
  Life() : state_(site()) {
    ComputeEnvironment environment;
    environment.name = "local";
    environment.instance_types = {{"small", {2000, 4096, 0}, {}, {}}, {"host", {8000, 16384, 2}, {}, {}}};
    environment.max_vcpus = 8;
    put(environment);
    apply(fact::QueuePut{Queue{.name = "a", .environments = {"local"}}});
    apply(fact::QueuePut{Queue{.name = "b", .priority = 2, .environments = {"local"}}});
  }

  const State& state() const { return state_; }

  void one_fact(uint32_t choice, uint32_t which) {
    at_ = at_ + Duration::seconds(which % 7);
    switch (choice % 8) {
      case 0:
      case 1:
        return submit(which);
      case 2:
        if (auto decision = next_decision(state_, at_, true)) apply(std::move(*decision));
        return;
      case 3:
      case 4:
        return begin_or_end(which);
      case 5:
        return stop(which);
      case 6:
        return toggle(which);
      default:
        return settle();
    }
  }

 private:
  void apply(FactBody body) {
    state_.apply(Fact{at_, std::move(body)});
    for (const Job& job : state_.take_finished()) {
      RC_ASSERT(is_finished(job));
      RC_ASSERT(!state_.job(job.id));
      RC_ASSERT(finished_.insert(job.id).second);
    }
  }
  void put(const ComputeEnvironment& environment) { apply(fact::EnvironmentPut{environment}); }

  std::vector<const Job*> jobs() const {
    std::vector<const Job*> out;
    for (const auto& [name, queue] : state_.queues()) {
      for (const auto& [order, id] : queue.jobs) out.push_back(state_.job(id));
    }
    return out;
  }
  const Job* pick(uint32_t which) const {
    const auto all = jobs();
    return all.empty() ? nullptr : all[which % all.size()];
  }

  void submit(uint32_t which) {
    const JobId id{Uuid{1, ++submitted_}};
    JobSpec spec;
    spec.queue = which % 2 == 0 ? "a" : "b";
    spec.image = which % 11 == 0 ? "unknown" : "host";
    spec.definition = "d";
    spec.resources = {static_cast<int64_t>(which % 5 + 1) * 500, static_cast<int64_t>(which % 3 + 1) * 1024,
                      which % 4 / 3};
    spec.retry.attempts = static_cast<int>(which % 3) + 1;
    std::vector<JobId> after;
    if (which % 3 == 0) {
      if (const Job* job = pick(which / 3)) after.push_back(job->id);
      if (const Job* job = pick(which / 5); job && job->id != after[0]) after.push_back(job->id);
    }
    spec.depends_on = after;
    apply(fact::JobSubmitted{id, spec, after});
  }

  void begin_or_end(uint32_t which) {
    const Job* job = pick(which);
    const Attempt* attempt = job ? live_attempt(*job) : nullptr;
    if (!attempt) return;
    const AttemptId id{job->id, attempt->number};
    if (!attempt->started && which % 2 == 0) return apply(fact::AttemptStarted{id, at_, attempt->log_stream});
    AttemptEnd end;
    end.cause = which % 5 == 0 ? EndCause::kLost : EndCause::kExited;
    if (end.cause == EndCause::kExited) end.exit_code = which % 3 == 0 ? 1 : 0;
    end.ended = at_;
    const Outcome outcome = outcome_of(*job, end);
    apply(fact::AttemptEnded{id, end, outcome.verdict, outcome.status_reason});
  }

  void stop(uint32_t which) {
    const Job* job = pick(which);
    if (!job || job->stop) return;
    const JobId id = job->id;
    const bool live = live_attempt(*job) != nullptr;
    apply(fact::StopRequested{id, {StopKind::kTerminate, "stopped", at_}});
    if (!live) apply(fact::JobFailed{id, "stopped"});
  }

  void toggle(uint32_t which) {
    ComputeEnvironment environment = state_.environments().at("local");
    environment.enabled = which % 3 != 0;
    environment.max_vcpus = which % 2 == 0 ? 8 : 2;
    put(environment);
  }

  void settle() {
    while (auto decision = next_decision(state_, at_, true)) apply(std::move(*decision));
  }

  State state_;
  Instant at_{1'000'000};
  uint64_t submitted_ = 0;
  std::set<JobId> finished_;
};

void indexes_agree(const State& state) {
  Resources host;
  std::multiset<int> gpus;
  std::map<InstanceId, Resources> used;
  size_t live = 0;
  for (const auto& [name, queue] : state.queues()) {
    live += queue.jobs.size();
    size_t pending_jobs = 0;
    std::vector<const ComputeEnvironment*> usable;
    for (const std::string& environment : queue.value.environments) {
      const auto found = state.environments().find(environment);
      if (found != state.environments().end() && found->second.enabled) usable.push_back(&found->second);
    }
    RC_ASSERT(queue.usable_environments == usable);
    for (const auto& [order, id] : queue.jobs) {
      const Job& job = *state.job(id);
      RC_ASSERT(job.order == order);
      RC_ASSERT(job.spec.queue == name);
      pending_jobs += std::string_view(status_name(job)) == "PENDING" ? 1 : 0;
      const bool runnable = std::holds_alternative<job_state::Runnable>(job.state);
      RC_ASSERT(queue.ready.contains(order) + queue.held.contains(order) == (runnable ? 1 : 0));
      if (runnable) {
        RC_ASSERT(queue.held.contains(order) == why_never_fits(state.site(), queue, job.spec).has_value());
      }
      if (const auto* pending = std::get_if<job_state::Pending>(&job.state)) {
        RC_ASSERT(pending->waiting_for.empty() == state.ready_dependents().contains(id));
      }
      if (const Attempt* attempt = live_attempt(job)) {
        RC_ASSERT(attempt->number == static_cast<int>(job.past.size()) + 1);
        host = host + attempt->allocated;
        used[attempt->instance] = used[attempt->instance] + attempt->allocated;
        gpus.insert(attempt->gpus.begin(), attempt->gpus.end());
      }
    }
    RC_ASSERT(queue.pending == pending_jobs);
  }
  RC_ASSERT(live == state.job_count());
  RC_ASSERT(host == state.host_used());
  RC_ASSERT(host.fits_in(state.site().host));
  for (const auto& [id, instance] : state.instances()) RC_ASSERT(instance.used == used[id]);
  for (const int gpu : gpus) RC_ASSERT(gpus.count(gpu) == 1U);
}

RC_GTEST_PROP(StateProperty, SnapshotsAndIndexesAgreeAfterEveryFact,
              (std::vector<std::pair<uint32_t, uint32_t>> facts)) {
  Life life;
  for (const auto& [choice, which] : facts) {
    life.one_fact(choice, which);
    indexes_agree(life.state());
    const State again(site(), life.state().snapshot());
    RC_ASSERT(Portrait(again).lines == Portrait(life.state()).lines);
  }
}

TEST(StateSnapshot, ADependentOfAFailedJobIsStillDoomedAfterASnapshot) {
  State state(site());
  const Instant at{1};
  state.apply({at, fact::QueuePut{Queue{.name = "q"}}});
  const JobId first{Uuid{1, 1}};
  const JobId second{Uuid{1, 2}};
  JobSpec spec;
  spec.queue = "q";
  state.apply({at, fact::JobSubmitted{first, spec, {}}});
  spec.depends_on = {first};
  state.apply({at, fact::JobSubmitted{second, spec, {first}}});
  state.apply({at, fact::JobFailed{first, "cancelled"}});
  const State again(site(), state.snapshot());
  EXPECT_TRUE(again.doomed_dependents().contains(second));
  EXPECT_TRUE(again.ready_dependents().empty());
}

}  // namespace
}  // namespace teson
