// AWS Batch's REST-JSON face over the control loop: one handler per operation.
//
// Thread: handle() on any thread, never blocks. A change is posted to the loop and answered once it is durable; reads
// copy out of the loop or the registry and are written out by a worker. Lifetime: everything passed in must outlive it,
// and the loop must have been stopped before it is destroyed.
// Errors: ClientException 400 for what the caller can put right; ServerException 503 while the loop cannot write (SDKs
// retry it by themselves; what was refused so was not kept), 500 for the rest.
#pragma once

#include <memory>
#include <string>

#include "api/batch/arn.h"
#include "api/batch/definition.h"
#include "api/batch/job_json.h"
#include "api/batch/list_query.h"
#include "api/batch/settings.h"
#include "api/batch/worker.h"
#include "api/http/router.h"
#include "control/loop.h"
#include "domain/catalogue.h"
#include "ports/history.h"

namespace teson::batch {

class BatchApi final : public http::Handler {
 public:
  BatchApi(Loop& loop, const RegistryView& registry, const History& history, InstanceCatalogue catalogue,
           BatchSettings settings);

  // POST /v1/<operation>; GET, POST, DELETE /v1/tags/<arn>; GET /teson/v1/explain; POST /teson/v1/interrupt.
  void register_routes(http::Router& router);
  void handle(http::Request request, http::Reply reply) override;
  http::Action action(const http::Request& request) const override;

 private:
  // One request under way. Shared by the closures that carry it from thread to thread.
  struct Call {
    http::Request request;
    http::Reply reply;
    Json body;

    void answer(const Json& json) const { answer_text(wire::json_text(json)); }
    void answer_text(std::string text) const { reply(http::json_response(request, std::move(text))); }
    void refuse(const Error& error) const;
  };
  using CallPtr = std::shared_ptr<Call>;
  using Operation = void (BatchApi::*)(const CallPtr&);
  struct Route {
    std::string_view path;
    std::string_view name;
    Operation operation;
    http::Need need;
  };
  static const Route* find_route(std::string_view path);

  // batch_jobs.cc, batch_describe.cc
  void submit_job(const CallPtr& call);
  void describe_jobs(const CallPtr& call);
  void list_jobs(const CallPtr& call);
  void list_children(const CallPtr& call, ListQuery query);
  void cancel_job(const CallPtr& call) { stop_job(call, StopKind::kCancel); }
  void terminate_job(const CallPtr& call) { stop_job(call, StopKind::kTerminate); }
  void stop_job(const CallPtr& call, StopKind kind);
  struct Submission;
  Result<command::SubmitJob> make_submission(const CallPtr& call);
  void send_submission(const CallPtr& call, const std::shared_ptr<Submission>& submission);
  void look_up_dependencies(const CallPtr& call, const std::shared_ptr<Submission>& submission,
                            const std::vector<JobId>& unknown);
  void prepare_rerun(const CallPtr& call, const std::shared_ptr<Submission>& submission, const JobId& of);
  struct Listing;
  void scan_on(const CallPtr& call, const std::shared_ptr<Listing>& listing, std::optional<uint64_t> below);
  void finish_listing(const CallPtr& call, Listing& listing);
  Result<std::vector<Job>> list_history(const ListQuery& query) const;

  // batch_definitions.cc
  void register_job_definition(const CallPtr& call);
  void describe_job_definitions(const CallPtr& call);
  void deregister_job_definition(const CallPtr& call);

  // batch_environments.cc: compute environments and queues
  void create_compute_environment(const CallPtr& call);
  void describe_compute_environments(const CallPtr& call);
  void update_compute_environment(const CallPtr& call);
  void delete_compute_environment(const CallPtr& call);
  void create_job_queue(const CallPtr& call);
  void describe_job_queues(const CallPtr& call);
  void update_job_queue(const CallPtr& call);
  void delete_job_queue(const CallPtr& call);
  void get_job_queue_snapshot(const CallPtr& call);

  // batch_policies.cc
  void create_scheduling_policy(const CallPtr& call);
  void describe_scheduling_policies(const CallPtr& call);
  void list_scheduling_policies(const CallPtr& call);
  void update_scheduling_policy(const CallPtr& call);
  void delete_scheduling_policy(const CallPtr& call);

  // batch_consumables.cc
  void create_consumable_resource(const CallPtr& call);
  void describe_consumable_resource(const CallPtr& call);
  void list_consumable_resources(const CallPtr& call);
  void update_consumable_resource(const CallPtr& call);
  void delete_consumable_resource(const CallPtr& call);
  void list_jobs_by_consumable_resource(const CallPtr& call);
  void tags_of_consumable(const CallPtr& call, const std::string& name);
  template <class Use>
  void with_consumable(const CallPtr& call, std::string name, Use use);

  // batch_explain.cc
  void explain(const CallPtr& call);

  // batch_interrupt.cc
  void interrupt(const CallPtr& call);

  // batch_tags.cc
  void tag(const CallPtr& call);
  void list_tags(const CallPtr& call);

  // Answers `text` once the command is durable.
  void command_then(const CallPtr& call, Command command, std::string text);

  Loop& loop_;
  const RegistryView& registry_;
  const History& history_;
  const InstanceCatalogue catalogue_;
  const BatchSettings settings_;
  const Arns arns_;
  DefinitionCache definitions_;
  Worker worker_;  // last: its threads use all of the above
};

}  // namespace teson::batch
