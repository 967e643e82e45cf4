#include "serve/bootstrap.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>
#include <future>
#include <nlohmann/json.hpp>

namespace teson {
namespace {

using Json = nlohmann::json;

constexpr char kHostSized[] = "teson:host-sized";

std::string mark_of(const std::string& data) { return data + "/bootstrapped"; }

Status call(http::Handler& batch, const std::string& operation, const Json& body) {
  http::Request request;
  request.method = "POST";
  request.path = "/v1/" + operation;
  request.body = body.dump();
  request.request_id = "bootstrap";
  request.caller = Caller{};
  auto answer = std::make_shared<std::promise<http::Response>>();
  auto future = answer->get_future();
  batch.handle(std::move(request), [answer](http::Response response) { answer->set_value(std::move(response)); });
  const http::Response response = future.get();
  if (response.status == 200 || response.body.find("already exists") != std::string::npos) return {};
  return fail(ErrorKind::kUnavailable, fmt::format("first set-up: {}: {}", operation, response.body));
}

int64_t host_vcpus(const Resources& host) { return std::max<int64_t>(1, (host.milli_vcpus + 999) / 1000); }

Status create_environment(http::Handler& batch, const std::string& name, const std::string& type,
                          const Resources& host) {
  const Json resources = {{"type", type},
                          {"minvCpus", 0},
                          {"maxvCpus", host_vcpus(host)},
                          {"instanceTypes", {"host"}},
                          {"subnets", Json::array()},
                          {"instanceRole", "host"}};
  return call(batch, "createcomputeenvironment",
              {{"computeEnvironmentName", name},
               {"type", "MANAGED"},
               {"state", "ENABLED"},
               {"computeResources", resources},
               {"tags", {{kHostSized, "true"}}}});
}

Status create_queue(http::Handler& batch, const std::string& name, const std::string& environment, int priority) {
  return call(batch, "createjobqueue",
              {{"jobQueueName", name},
               {"state", "ENABLED"},
               {"priority", priority},
               {"computeEnvironmentOrder", {{{"order", 1}, {"computeEnvironment", environment}}}}});
}

Status create_all(http::Handler& batch, const Resources& host) {
  if (auto status = create_environment(batch, "local", "EC2", host); !status) return status;
  if (auto status = create_environment(batch, "local-spot", "SPOT", host); !status) return status;
  if (auto status = create_queue(batch, "default", "local", 10); !status) return status;
  return create_queue(batch, "spot", "local-spot", 1);
}

Status follow_host_size(http::Handler& batch, const RegistryView& registry, const Resources& host) {
  for (const auto& environment : registry.environments()) {
    const auto tag = environment->tags.find(kHostSized);
    if (tag == environment->tags.end() || tag->second != "true") continue;
    if (environment->instance_types.size() == 1 && environment->instance_types[0].size == host) continue;
    const Json resources = {{"maxvCpus", host_vcpus(host)}, {"instanceTypes", {"host"}}};
    const Json update = {{"computeEnvironment", environment->name}, {"computeResources", resources}};
    if (auto status = call(batch, "updatecomputeenvironment", update); !status) return status;
  }
  return {};
}

}  // namespace

Status check_journal_is_there(const std::string& data) {
  struct stat info{};
  const std::string journal = data + "/teson.db";
  if (stat(mark_of(data).c_str(), &info) != 0) return {};
  if (stat(journal.c_str(), &info) == 0 && info.st_size > 0) return {};
  return invalid(
      fmt::format("{} is missing or empty, but this data directory has been used: put it back from a backup, or "
                  "choose another directory with --data to begin anew",
                  journal));
}

Status bootstrap(const std::string& data, http::Handler& batch, const RegistryView& registry, const Resources& host) {
  const std::string mark = mark_of(data);
  struct stat info{};
  if (stat(mark.c_str(), &info) == 0) return follow_host_size(batch, registry, host);
  if (auto status = create_all(batch, host); !status) return status;
  std::ofstream file(mark);
  file << "environments local, local-spot and queues default, spot were made once; they are yours to change\n";
  file.close();
  if (!file) return errno_error("write " + mark);
  return {};
}

}  // namespace teson
