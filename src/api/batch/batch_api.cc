#include "api/batch/batch_api.h"

#include <fmt/format.h>

#include <array>

#include "wire/aws_error.h"

namespace teson::batch {
namespace {

constexpr std::string_view kRoot = "/v1/";
constexpr std::string_view kTags = "/v1/tags/";
constexpr std::string_view kExplain = "/teson/v1/explain";
constexpr std::string_view kInterrupt = "/teson/v1/interrupt";
constexpr int kWorkers = 2;

// Operations of AWS Batch that this version does not have.
constexpr std::array kUnsupported = {
    "CreateQuotaShare",         "CreateServiceEnvironment", "DeleteQuotaShare",
    "DeleteServiceEnvironment", "DescribeQuotaShare",       "DescribeServiceEnvironments",
    "DescribeServiceJob",       "ListQuotaShares",          "ListServiceJobs",
    "SubmitServiceJob",         "TerminateServiceJob",      "UpdateQuotaShare",
    "UpdateServiceEnvironment", "UpdateServiceJob"};

std::string_view unsupported_operation(std::string_view path) {
  for (const std::string_view name : kUnsupported) {
    const bool same = path.size() == name.size() &&
                      std::equal(path.begin(), path.end(), name.begin(),
                                 [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
    if (same) return name;
  }
  return {};
}

// For the audit log: what a request names first.
std::string resource_of(const Json& body) {
  static constexpr std::array kMembers = {"jobId",
                                          "jobDefinitionName",
                                          "jobDefinition",
                                          "jobQueueName",
                                          "jobQueue",
                                          "computeEnvironmentName",
                                          "arn",
                                          "name",
                                          "computeEnvironment",
                                          "consumableResource",
                                          "consumableResourceName",
                                          "id"};
  for (const char* member : kMembers) {
    if (const auto found = body.find(member); found != body.end() && found->is_string()) return *found;
  }
  return {};
}

}  // namespace

BatchApi::BatchApi(Loop& loop, const RegistryView& registry, const History& history, InstanceCatalogue catalogue,
                   BatchSettings settings)
    : loop_(loop),
      registry_(registry),
      history_(history),
      catalogue_(std::move(catalogue)),
      settings_(std::move(settings)),
      arns_(settings_.region, settings_.account_id),
      worker_(kWorkers) {}

void BatchApi::register_routes(http::Router& router) {
  router.add("POST", "/v1/{operation}", *this);
  router.add("GET", kExplain, *this);
  router.add("POST", kInterrupt, *this);
  for (const char* method : {"GET", "POST", "DELETE"}) router.add(method, "/v1/tags/{resourceArn+}", *this);
}

const BatchApi::Route* BatchApi::find_route(std::string_view path) {
  using http::Need;
  static constexpr std::array kRoutes = {
      Route{"submitjob", "SubmitJob", &BatchApi::submit_job, Need::kChange},
      Route{"describejobs", "DescribeJobs", &BatchApi::describe_jobs, Need::kRead},
      Route{"listjobs", "ListJobs", &BatchApi::list_jobs, Need::kRead},
      Route{"canceljob", "CancelJob", &BatchApi::cancel_job, Need::kChange},
      Route{"terminatejob", "TerminateJob", &BatchApi::terminate_job, Need::kChange},
      Route{"registerjobdefinition", "RegisterJobDefinition", &BatchApi::register_job_definition, Need::kChange},
      Route{"describejobdefinitions", "DescribeJobDefinitions", &BatchApi::describe_job_definitions, Need::kRead},
      Route{"deregisterjobdefinition", "DeregisterJobDefinition", &BatchApi::deregister_job_definition, Need::kChange},
      Route{"createcomputeenvironment", "CreateComputeEnvironment", &BatchApi::create_compute_environment,
            Need::kAdmin},
      Route{"describecomputeenvironments", "DescribeComputeEnvironments", &BatchApi::describe_compute_environments,
            Need::kRead},
      Route{"updatecomputeenvironment", "UpdateComputeEnvironment", &BatchApi::update_compute_environment,
            Need::kAdmin},
      Route{"deletecomputeenvironment", "DeleteComputeEnvironment", &BatchApi::delete_compute_environment,
            Need::kAdmin},
      Route{"createjobqueue", "CreateJobQueue", &BatchApi::create_job_queue, Need::kAdmin},
      Route{"describejobqueues", "DescribeJobQueues", &BatchApi::describe_job_queues, Need::kRead},
      Route{"updatejobqueue", "UpdateJobQueue", &BatchApi::update_job_queue, Need::kAdmin},
      Route{"deletejobqueue", "DeleteJobQueue", &BatchApi::delete_job_queue, Need::kAdmin},
      Route{"getjobqueuesnapshot", "GetJobQueueSnapshot", &BatchApi::get_job_queue_snapshot, Need::kRead},
      Route{"createschedulingpolicy", "CreateSchedulingPolicy", &BatchApi::create_scheduling_policy, Need::kAdmin},
      Route{"describeschedulingpolicies", "DescribeSchedulingPolicies", &BatchApi::describe_scheduling_policies,
            Need::kRead},
      Route{"listschedulingpolicies", "ListSchedulingPolicies", &BatchApi::list_scheduling_policies, Need::kRead},
      Route{"updateschedulingpolicy", "UpdateSchedulingPolicy", &BatchApi::update_scheduling_policy, Need::kAdmin},
      Route{"deleteschedulingpolicy", "DeleteSchedulingPolicy", &BatchApi::delete_scheduling_policy, Need::kAdmin},
      Route{"createconsumableresource", "CreateConsumableResource", &BatchApi::create_consumable_resource,
            Need::kAdmin},
      Route{"describeconsumableresource", "DescribeConsumableResource", &BatchApi::describe_consumable_resource,
            Need::kRead},
      Route{"listconsumableresources", "ListConsumableResources", &BatchApi::list_consumable_resources, Need::kRead},
      Route{"updateconsumableresource", "UpdateConsumableResource", &BatchApi::update_consumable_resource,
            Need::kAdmin},
      Route{"deleteconsumableresource", "DeleteConsumableResource", &BatchApi::delete_consumable_resource,
            Need::kAdmin},
      Route{"listjobsbyconsumableresource", "ListJobsByConsumableResource", &BatchApi::list_jobs_by_consumable_resource,
            Need::kRead},
  };
  for (const Route& route : kRoutes) {
    if (route.path == path) return &route;
  }
  return nullptr;
}

http::Action BatchApi::action(const http::Request& request) const {
  const std::string_view path = request.path;
  if (path.starts_with(kTags)) {
    // Whether it is the user's own to tag is decided where the resource is looked at.
    if (request.method == "POST") return {"batch:TagResource", http::Need::kChange};
    if (request.method == "DELETE") return {"batch:UntagResource", http::Need::kChange};
    return {"batch:ListTagsForResource", http::Need::kRead};
  }
  // Whether all that it hits is the user's own is decided by the loop.
  if (path == kInterrupt) return {"teson:Interrupt", http::Need::kChange};
  const Route* route = path.starts_with(kRoot) ? find_route(path.substr(kRoot.size())) : nullptr;
  if (!route) return {std::string(path), http::Need::kRead};
  return {fmt::format("batch:{}", route->name), route->need};
}

void BatchApi::handle(http::Request request, http::Reply reply) {
  auto call = std::make_shared<Call>(Call{std::move(request), std::move(reply), {}});
  const std::string_view path = call->request.path;
  if (path == kExplain) return explain(call);
  const bool tags = path.starts_with(kTags);
  const bool interrupts = path == kInterrupt;
  const std::string_view name = path.starts_with(kRoot) ? path.substr(kRoot.size()) : std::string_view();
  const Route* route = tags || interrupts ? nullptr : find_route(name);
  if (!route && !tags && !interrupts) {
    if (const std::string_view operation = unsupported_operation(name); !operation.empty()) {
      return call->refuse(
          {ErrorKind::kInvalid, fmt::format("{} is not supported by this version of teson", operation)});
    }
    return call->reply(http::error_response(call->request, wire::unknown_operation(wire::Protocol::kRestJson)));
  }
  auto body = wire::parse_json_object(call->request.body);
  if (!body) return call->refuse(body.error());
  call->body = std::move(*body);
  call->request.touches(tags ? std::string(call->request.path_parameter("resourceArn")) : resource_of(call->body));
  if (tags) return tag(call);
  if (interrupts) return interrupt(call);
  (this->*route->operation)(call);
}

void BatchApi::Call::refuse(const Error& error) const {
  wire::AwsError out = wire::batch_error(error);
  if (error.kind == ErrorKind::kUnavailable) out.status = 503;
  reply(http::error_response(request, out));
}

void BatchApi::command_then(const CallPtr& call, Command command, std::string text) {
  loop_.submit(std::move(command), [call, text = std::move(text)](Result<Accepted> accepted) {
    if (!accepted) return call->refuse(accepted.error());
    call->answer_text(text);
  });
}

}  // namespace teson::batch
