// Compute environments and job queues: create, describe, update, delete.
#include <fmt/format.h>

#include <map>
#include <set>

#include "api/batch/batch_api.h"
#include "api/batch/environment_json.h"
#include "api/batch/page.h"
#include "api/batch/queue_json.h"
#include "base/try.h"
#include "core/scheduler/fair_share.h"

namespace teson::batch {
namespace {

constexpr size_t kMaxNamed = 100;
constexpr size_t kMaxFront = 100;  // [AWS Batch API, FrontOfQueueDetail]
constexpr char kEnvironments[] = "computeEnvironments";
constexpr char kQueues[] = "jobQueues";

struct NamedQuery {
  std::set<std::string> names;  // empty: any
  PageRequest page;
};

using NameParser = Result<std::string> (Arns::*)(const std::string&, std::string_view) const;

Result<NamedQuery> parse_query(const Json& body, const char* member, const Arns& arns, NameParser parse_name) {
  const JsonValue value(body, "");
  NamedQuery out;
  TESON_TRY(const auto names, wire::optional_string_array(value, member, kMaxNamed, {1}));
  for (const std::string& text : names) {
    TESON_TRY(std::string name, (arns.*parse_name)(text, member));
    out.names.insert(std::move(name));
  }
  TESON_TRY(out.page, parse_page(value, member));
  return out;
}

template <class T>
struct Page {
  std::vector<std::shared_ptr<const T>> values;
  std::optional<std::string> next_token;
};

// `all` is sorted by name.
template <class T>
Page<T> cut_page(const std::vector<std::shared_ptr<const T>>& all, const NamedQuery& query, const char* kind) {
  Page<T> page;
  for (const auto& value : all) {
    if (query.page.after && value->name <= *query.page.after) continue;
    if (!query.names.empty() && !query.names.contains(value->name)) continue;
    if (page.values.size() == static_cast<size_t>(query.page.limit)) {
      page.next_token = make_token(kind, page.values.back()->name);
      break;
    }
    page.values.push_back(value);
  }
  return page;
}

std::string named_answer(const char* name_member, const std::string& name, const char* arn_member,
                         const std::string& arn) {
  return wire::json_text({{name_member, name}, {arn_member, arn}});
}

}  // namespace

// ---- Compute environments ----

void BatchApi::create_compute_environment(const CallPtr& call) {
  auto environment = parse_create_environment(call->body, catalogue_, settings_);
  if (!environment) return call->refuse(environment.error());
  std::string answer = named_answer("computeEnvironmentName", environment->name, "computeEnvironmentArn",
                                    arns_.environment(environment->name));
  command_then(call, command::CreateEnvironment{std::move(*environment)}, std::move(answer));
}

void BatchApi::describe_compute_environments(const CallPtr& call) {
  const auto query = parse_query(call->body, kEnvironments, arns_, &Arns::environment_name);
  if (!query) return call->refuse(query.error());
  auto page = std::make_shared<Page<ComputeEnvironment>>(cut_page(registry_.environments(), *query, kEnvironments));
  loop_.ask([this, call, page](const Controller& controller) {
    std::map<std::string, int64_t> live_vcpus;
    for (const auto& environment : page->values) {
      live_vcpus[environment->name] = controller.state().instance_vcpus_of(environment->name) / 1000;
    }
    worker_.post([this, call, page, live_vcpus = std::move(live_vcpus)] {
      Json out = {{kEnvironments, Json::array()}};
      for (const auto& environment : page->values) {
        out[kEnvironments].push_back(environment_detail(*environment, live_vcpus.at(environment->name), arns_));
      }
      if (page->next_token) out["nextToken"] = *page->next_token;
      call->answer(out);
    });
  });
}

void BatchApi::update_compute_environment(const CallPtr& call) {
  auto update = parse_update_environment(call->body, arns_, catalogue_, settings_);
  if (!update) return call->refuse(update.error());
  std::string answer =
      named_answer("computeEnvironmentName", update->name, "computeEnvironmentArn", arns_.environment(update->name));
  command_then(call, command::UpdateEnvironment{std::move(update->name), std::move(update->change)}, std::move(answer));
}

void BatchApi::delete_compute_environment(const CallPtr& call) {
  const auto text = wire::required_string(JsonValue(call->body, ""), "computeEnvironment");
  if (!text) return call->refuse(text.error());
  auto name = arns_.environment_name(*text, "computeEnvironment");
  if (!name) return call->refuse(name.error());
  command_then(call, command::DeleteEnvironment{std::move(*name)}, "{}");
}

// ---- Job queues ----

void BatchApi::create_job_queue(const CallPtr& call) {
  auto queue = parse_create_queue(call->body, arns_, registry_);
  if (!queue) return call->refuse(queue.error());
  std::string answer = named_answer("jobQueueName", queue->name, "jobQueueArn", arns_.queue(queue->name));
  command_then(call, command::CreateQueue{std::move(*queue)}, std::move(answer));
}

void BatchApi::describe_job_queues(const CallPtr& call) {
  const auto query = parse_query(call->body, kQueues, arns_, &Arns::queue_name);
  if (!query) return call->refuse(query.error());
  const Page<Queue> page = cut_page(registry_.queues(), *query, kQueues);
  Json out = {{kQueues, Json::array()}};
  for (const auto& queue : page.values) out[kQueues].push_back(queue_detail(*queue, arns_));
  if (page.next_token) out["nextToken"] = *page.next_token;
  call->answer(out);
}

void BatchApi::update_job_queue(const CallPtr& call) {
  auto update = parse_update_queue(call->body, arns_, registry_);
  if (!update) return call->refuse(update.error());
  std::string answer = named_answer("jobQueueName", update->name, "jobQueueArn", arns_.queue(update->name));
  command_then(call, command::UpdateQueue{std::move(update->name), std::move(update->change)}, std::move(answer));
}

void BatchApi::delete_job_queue(const CallPtr& call) {
  const auto text = wire::required_string(JsonValue(call->body, ""), "jobQueue");
  if (!text) return call->refuse(text.error());
  auto name = arns_.queue_name(*text, "jobQueue");
  if (!name) return call->refuse(name.error());
  command_then(call, command::DeleteQueue{std::move(*name)}, "{}");
}

// The moment from which a job could have had its place at the earliest is that of its submission: when those before it
// left is not kept.
void BatchApi::get_job_queue_snapshot(const CallPtr& call) {
  const auto text = wire::required_string(JsonValue(call->body, ""), "jobQueue");
  if (!text) return call->refuse(text.error());
  const auto name = arns_.queue_name(*text, "jobQueue");
  if (!name) return call->refuse(name.error());
  loop_.ask([this, call, name = *name](const Controller& controller) {
    const State& state = controller.state();
    const auto queue = state.queues().find(name);
    if (queue == state.queues().end()) {
      return call->refuse({ErrorKind::kNotFound, fmt::format("Job queue '{}' does not exist", name)});
    }
    Json jobs = Json::array();
    for (const JobId& id : front_of_queue(state, queue->second, controller.now(), kMaxFront)) {
      const Job* job = state.job(id);
      const Instant created = (job ? job : state.job(id.parent()))->created;
      jobs.push_back({{"jobArn", arns_.job(id)}, {"earliestTimeAtPosition", created.millis()}});
    }
    call->answer({{"frontOfQueue", {{"jobs", std::move(jobs)}, {"lastUpdatedAt", controller.now().millis()}}}});
  });
}

}  // namespace teson::batch
