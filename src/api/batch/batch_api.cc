#include "api/batch/batch_api.h"

#include <fmt/format.h>

#include <array>

#include "wire/aws_error.h"

namespace teson::batch {
namespace {

constexpr std::string_view kRoot = "/v1/";
constexpr std::string_view kTags = "/v1/tags/";
constexpr std::string_view kExplain = "/teson/v1/explain";
constexpr int kWorkers = 2;

// Operations of AWS Batch that this version does not have.
constexpr std::array kUnsupported = {"CreateConsumableResource",
                                     "CreateQuotaShare",
                                     "CreateSchedulingPolicy",
                                     "CreateServiceEnvironment",
                                     "DeleteConsumableResource",
                                     "DeleteQuotaShare",
                                     "DeleteSchedulingPolicy",
                                     "DeleteServiceEnvironment",
                                     "DescribeConsumableResource",
                                     "DescribeQuotaShare",
                                     "DescribeSchedulingPolicies",
                                     "DescribeServiceEnvironments",
                                     "DescribeServiceJob",
                                     "GetJobQueueSnapshot",
                                     "ListConsumableResources",
                                     "ListJobsByConsumableResource",
                                     "ListQuotaShares",
                                     "ListSchedulingPolicies",
                                     "ListServiceJobs",
                                     "SubmitServiceJob",
                                     "TerminateServiceJob",
                                     "UpdateConsumableResource",
                                     "UpdateQuotaShare",
                                     "UpdateSchedulingPolicy",
                                     "UpdateServiceEnvironment",
                                     "UpdateServiceJob"};

std::string_view unsupported_operation(std::string_view path) {
  for (const std::string_view name : kUnsupported) {
    const bool same = path.size() == name.size() &&
                      std::equal(path.begin(), path.end(), name.begin(),
                                 [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
    if (same) return name;
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
  for (const char* method : {"GET", "POST", "DELETE"}) router.add(method, "/v1/tags/{resourceArn+}", *this);
}

const BatchApi::Route* BatchApi::find_route(std::string_view path) {
  static constexpr std::array kRoutes = {
      Route{"submitjob", &BatchApi::submit_job},
      Route{"describejobs", &BatchApi::describe_jobs},
      Route{"listjobs", &BatchApi::list_jobs},
      Route{"canceljob", &BatchApi::cancel_job},
      Route{"terminatejob", &BatchApi::terminate_job},
      Route{"registerjobdefinition", &BatchApi::register_job_definition},
      Route{"describejobdefinitions", &BatchApi::describe_job_definitions},
      Route{"deregisterjobdefinition", &BatchApi::deregister_job_definition},
      Route{"createcomputeenvironment", &BatchApi::create_compute_environment},
      Route{"describecomputeenvironments", &BatchApi::describe_compute_environments},
      Route{"updatecomputeenvironment", &BatchApi::update_compute_environment},
      Route{"deletecomputeenvironment", &BatchApi::delete_compute_environment},
      Route{"createjobqueue", &BatchApi::create_job_queue},
      Route{"describejobqueues", &BatchApi::describe_job_queues},
      Route{"updatejobqueue", &BatchApi::update_job_queue},
      Route{"deletejobqueue", &BatchApi::delete_job_queue},
      Route{"getjobqueuesnapshot", &BatchApi::get_job_queue_snapshot},
      Route{"createschedulingpolicy", &BatchApi::create_scheduling_policy},
      Route{"describeschedulingpolicies", &BatchApi::describe_scheduling_policies},
      Route{"listschedulingpolicies", &BatchApi::list_scheduling_policies},
      Route{"updateschedulingpolicy", &BatchApi::update_scheduling_policy},
      Route{"deleteschedulingpolicy", &BatchApi::delete_scheduling_policy},
  };
  for (const Route& route : kRoutes) {
    if (route.path == path) return &route;
  }
  return nullptr;
}

void BatchApi::handle(http::Request request, http::Reply reply) {
  auto call = std::make_shared<Call>(Call{std::move(request), std::move(reply), {}});
  const std::string_view path = call->request.path;
  if (path == kExplain) return explain(call);
  const bool tags = path.starts_with(kTags);
  const std::string_view name = path.starts_with(kRoot) ? path.substr(kRoot.size()) : std::string_view();
  const Route* route = tags ? nullptr : find_route(name);
  if (!route && !tags) {
    if (const std::string_view operation = unsupported_operation(name); !operation.empty()) {
      return call->refuse(
          {ErrorKind::kInvalid, fmt::format("{} is not supported by this version of teson", operation)});
    }
    return call->reply(http::error_response(call->request, wire::unknown_operation(wire::Protocol::kRestJson)));
  }
  auto body = wire::parse_json_object(call->request.body);
  if (!body) return call->refuse(body.error());
  call->body = std::move(*body);
  if (tags) return tag(call);
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
