#include "api/overview/overview_api.h"

#include <algorithm>
#include <map>
#include <span>

#include "domain/user.h"
#include "wire/json.h"

namespace teson::overview {
namespace {

using wire::Json;

// However many there are: an answer stays small, and the loop soon goes on.
constexpr size_t kMostInstances = 200;
constexpr size_t kMostJobs = 200;

Json resources_json(const Resources& resources) {
  return {{"vcpus", static_cast<double>(resources.milli_vcpus) / 1000},
          {"memoryMiB", resources.memory_mib},
          {"gpus", resources.gpus}};
}

struct LiveJobs {
  struct Counts {
    int64_t starting = 0, running = 0;
  };
  std::map<std::string, Counts> by_queue;
  std::vector<const Job*> running;
};

// O(live attempts): whose place it is, and who waits behind it.
LiveJobs live_jobs(const State& state) {
  LiveJobs out;
  for (const JobId& holder : state.holders()) {
    for (std::optional<JobId> id = holder; id; id = state.follower_of(*id)) {
      const Job& job = *state.job(*id);
      LiveJobs::Counts& counts = out.by_queue[job.spec.queue];
      const bool runs = std::holds_alternative<job_state::Running>(job.state);
      ++(runs ? counts.running : counts.starting);
      if (runs) out.running.push_back(&job);
    }
  }
  return out;
}

Json queues_json(const State& state, const LiveJobs& live) {
  Json out = Json::array();
  for (const QueueState* queue : state.queues_by_priority()) {
    const auto counts = live.by_queue.find(queue->value.name);
    const LiveJobs::Counts none, &has = counts == live.by_queue.end() ? none : counts->second;
    out.push_back({{"jobQueueName", queue->value.name},
                   {"state", queue->value.enabled ? "ENABLED" : "DISABLED"},
                   {"priority", queue->value.priority},
                   {"runnable", queue->ready.size() + queue->held.size()},
                   {"unplaceable", queue->held.size()},
                   {"starting", has.starting},
                   {"running", has.running}});
  }
  return out;
}

Json instances_json(const State& state) {
  Json out = Json::array();
  for (const auto& [id, instance] : state.instances()) {
    if (out.size() == kMostInstances) break;
    out.push_back({{"instanceId", id.text()},
                   {"computeEnvironment", instance.value.environment},
                   {"instanceType", instance.value.type},
                   {"spot", instance.value.market == Market::kSpot},
                   {"startedAt", instance.value.started.millis()},
                   {"attempts", instance.attempts},
                   {"has", resources_json(instance.value.size)},
                   {"used", resources_json(instance.used)}});
  }
  return out;
}

Instant running_since(const Job& job) { return live_attempt(job)->started.value_or(live_attempt(job)->placed); }

Json jobs_json(std::vector<const Job*> running) {
  const auto shown = static_cast<std::ptrdiff_t>(std::min(running.size(), kMostJobs));
  std::partial_sort(running.begin(), running.begin() + shown, running.end(), [](const Job* a, const Job* b) {
    return std::pair(running_since(*a), a->id) < std::pair(running_since(*b), b->id);
  });
  Json out = Json::array();
  for (const Job* job : std::span(running).first(static_cast<size_t>(shown))) {
    const Attempt& attempt = *live_attempt(*job);
    out.push_back({{"jobId", job->id.text()},
                   {"jobName", job->spec.name},
                   {"owner", owner_name(job->spec.owner)},
                   {"jobQueue", job->spec.queue},
                   {"attempt", attempt.number},
                   {"startedAt", running_since(*job).millis()},
                   {"instanceId", attempt.instance.text()},
                   {"used", resources_json(attempt.allocated)}});
  }
  return out;
}

}  // namespace

http::Action OverviewApi::action(const http::Request&) const { return {"teson:Overview", http::Need::kRead, false}; }

void OverviewApi::handle(http::Request request, http::Reply reply) {
  loop_.ask([request = std::move(request), reply = std::move(reply)](const Controller& controller) {
    const State& state = controller.state();
    LiveJobs live = live_jobs(state);
    Json out = {{"at", controller.now().millis()},
                {"trouble", controller.trouble()},
                {"host", {{"has", resources_json(state.site().host)}, {"used", resources_json(state.host_used())}}},
                {"queues", queues_json(state, live)},
                {"instances", instances_json(state)},
                {"instancesInAll", state.instances().size()},
                {"runningInAll", live.running.size()}};
    out["running"] = jobs_json(std::move(live.running));
    reply(http::json_response(request, wire::json_text(out)));
  });
}

}  // namespace teson::overview
