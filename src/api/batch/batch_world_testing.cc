#include "api/batch/batch_world_testing.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

namespace teson::batch {
namespace {

constexpr auto kDeadline = std::chrono::seconds(20);

}  // namespace

Status MemoryJournal::append(std::span<const Fact> facts, std::span<const Job> finished) {
  const std::lock_guard lock(mutex_);
  if (refuse_) return fail(ErrorKind::kUnavailable, "no space left");
  facts_.insert(facts_.end(), facts.begin(), facts.end());
  for (const Job& job : finished) finished_.emplace(job.order, job);
  return {};
}

Result<JournalContents> MemoryJournal::load() {
  const std::lock_guard lock(mutex_);
  return JournalContents{{}, 0, facts_};
}

Result<std::vector<Job>> MemoryJournal::find(std::span<const JobId> ids) const {
  const std::lock_guard lock(mutex_);
  std::vector<Job> out;
  for (const JobId& id : ids) {
    for (const auto& [order, job] : finished_) {
      if (job.id == id) out.push_back(job);
    }
  }
  return out;
}

Result<std::vector<Job>> MemoryJournal::list(const HistoryQuery& query) const {
  const std::lock_guard lock(mutex_);
  ListQuery as_list;
  as_list.queue = query.queue;
  as_list.name_pattern = query.name_pattern;
  as_list.definition = query.definition;
  as_list.created_before = query.created_before;
  as_list.created_after = query.created_after;
  std::vector<Job> out;
  for (const auto& [order, job] : finished_) {
    if (job.id.is_child() || (query.order_below && order >= *query.order_below)) continue;
    if (query.succeeded && *query.succeeded != std::holds_alternative<job_state::Succeeded>(job.state)) continue;
    if (!matches(as_list, job)) continue;
    if (out.size() == static_cast<size_t>(query.limit)) break;
    out.push_back(job);
  }
  return out;
}

Result<std::optional<LogStreamRecord>> MemoryJournal::find_stream(const std::string&) const { return std::nullopt; }

Result<std::vector<LogStreamRecord>> MemoryJournal::list_streams(const std::string&, const std::string&, int) const {
  return std::vector<LogStreamRecord>{};
}

void MemoryJournal::refuse(bool on) {
  const std::lock_guard lock(mutex_);
  refuse_ = on;
}

void IdleLauncher::launch(const LaunchOrder& order) {
  const std::lock_guard lock(mutex_);
  orders_.push_back(order);
}

void IdleLauncher::stop(const AttemptId&, Duration) {}

std::vector<LaunchOrder> IdleLauncher::orders(size_t count) const {
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (orders_.size() >= count) return orders_;
    }
    if (std::chrono::steady_clock::now() > deadline) {
      ADD_FAILURE() << "no " << count << " launches";
      return std::vector<LaunchOrder>(count);
    }
    std::this_thread::yield();
  }
}

Instant StepClock::now() const {
  const std::lock_guard lock(mutex_);
  now_ = now_ + Duration::millis(1);
  return now_;
}

BatchWorld::BatchWorld() {
  const Resources host{4'000, 8'192, 0};
  Site site;
  site.host = host;
  controller_ = std::make_unique<Controller>(journal, launcher, site);
  EXPECT_TRUE(controller_->recover(clock_.now()));
  loop_ = std::make_unique<Loop>(*controller_, clock_);
  loop_->start();
  BatchSettings settings;
  settings.account_id = "123456789012";
  settings.host = host;
  api_ = std::make_unique<BatchApi>(*loop_, controller_->registry(), journal, InstanceCatalogue::builtin(), settings);
}

BatchWorld::~BatchWorld() { loop_->stop(); }

Answer BatchWorld::post_text(const std::string& operation, const std::string& body) {
  return send("POST", "/v1/" + operation, "", body);
}

Answer BatchWorld::send(const std::string& method, const std::string& path, const std::string& query,
                        const std::string& body) {
  http::Request request;
  request.method = method;
  request.body = body;
  request.request_id = "test";
  request.caller = caller_;
  EXPECT_TRUE(http::set_target(request, query.empty() ? path : path + "?" + query));
  constexpr std::string_view kTags = "/v1/tags/";
  if (path.starts_with(kTags)) {
    request.path_parameters.emplace_back("resourceArn", wire::percent_decode(path.substr(kTags.size())).value());
  }
  auto promise = std::make_shared<std::promise<http::Response>>();
  auto future = promise->get_future();
  api_->handle(std::move(request), [promise](http::Response response) { promise->set_value(std::move(response)); });
  if (future.wait_for(kDeadline) != std::future_status::ready) {
    ADD_FAILURE() << "no answer to " << method << " " << path;
    return {};
  }
  const http::Response response = future.get();
  Answer out{response.status, Json::parse(response.body, nullptr, false), {}};
  out.error_type = std::string(response.headers.get("x-amzn-errortype"));
  return out;
}

void BatchWorld::set_up() {
  EXPECT_EQ(
      post("createcomputeenvironment",
           {{"computeEnvironmentName", "here"},
            {"type", "MANAGED"},
            {"computeResources", {{"type", "EC2"}, {"maxvCpus", 4}, {"instanceTypes", {"host"}}, {"subnets", {"s"}}}}})
          .status,
      200);
  const Json order = {{{"order", 1}, {"computeEnvironment", "here"}}};
  EXPECT_EQ(
      post("createjobqueue", {{"jobQueueName", "main"}, {"priority", 1}, {"computeEnvironmentOrder", order}}).status,
      200);
  const Json needs = {{{"type", "VCPU"}, {"value", "1"}}, {{"type", "MEMORY"}, {"value", "512"}}};
  EXPECT_EQ(post("registerjobdefinition",
                 {{"jobDefinitionName", "train"},
                  {"type", "container"},
                  {"containerProperties", {{"image", "host"}, {"command", {"true"}}, {"resourceRequirements", needs}}}})
                .status,
            200);
}

std::string BatchWorld::submit(Json changes) {
  Json body = {{"jobName", "j"}, {"jobQueue", "main"}, {"jobDefinition", "train"}};
  body.update(changes);
  const Answer answer = post("submitjob", body);
  EXPECT_EQ(answer.status, 200) << answer.body.dump();
  return answer.body.value("jobId", "");
}

Json BatchWorld::describe(const std::string& job_id) {
  const Answer answer = post("describejobs", {{"jobs", {job_id}}});
  EXPECT_EQ(answer.status, 200);
  return answer.body.at("jobs").size() == 1 ? answer.body.at("jobs").at(0) : Json::object();
}

void BatchWorld::report_started(const AttemptId& id) { loop_->report({id, AttemptStartedReport{clock_.now()}}); }

void BatchWorld::report_exit(const AttemptId& id, int exit_code) {
  AttemptEnd end;
  end.exit_code = exit_code;
  end.status_reason = "Essential container in task exited";
  end.ended = clock_.now();
  loop_->report({id, AttemptEndedReport{end}});
}

}  // namespace teson::batch
