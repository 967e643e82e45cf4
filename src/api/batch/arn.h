// AWS's names for resources (ARNs), made and read. Pure; any thread.
//
// Form: arn:aws:batch:REGION:ACCOUNT:KIND/NAME [AWS Batch API reference]. Wherever AWS takes a name or an ARN, so do
// we; an ARN of another region or account is refused with both named.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "domain/environment.h"
#include "domain/ids.h"

namespace teson::batch {

struct DefinitionRef {
  std::string name;
  int revision = 0;  // 0: the latest active one
};
struct EnvironmentRef {
  std::string name;
};
struct QueueRef {
  std::string name;
};
struct PolicyRef {
  std::string name;
};
struct ConsumableRef {
  std::string name;
};
using ResourceRef = std::variant<EnvironmentRef, QueueRef, PolicyRef, ConsumableRef, DefinitionRef, JobId>;

class Arns {
 public:
  Arns(std::string region, std::string account);

  std::string environment(std::string_view name) const { return batch("compute-environment/", name); }
  std::string queue(std::string_view name) const { return batch("job-queue/", name); }
  std::string policy(std::string_view name) const { return batch("scheduling-policy/", name); }
  std::string consumable(std::string_view name) const { return batch("consumable-resource/", name); }
  std::string definition(std::string_view name, int revision) const;
  std::string job(const JobId& id) const { return batch("job/", id.text()); }
  // What AWS runs Batch on: each environment is an ECS cluster, each attempt a task.
  std::string cluster(std::string_view environment) const;
  std::string container_instance(std::string_view environment, const InstanceId& instance) const;
  std::string task(std::string_view environment, std::string_view task_id) const;

  // A name or an ARN of that kind -> the name. `field` names the request's member in messages.
  Result<std::string> environment_name(const std::string& text, std::string_view field) const;
  Result<std::string> queue_name(const std::string& text, std::string_view field) const;
  Result<std::string> policy_name(const std::string& text, std::string_view field) const;
  Result<std::string> consumable_name(const std::string& text, std::string_view field) const;
  // NAME, NAME:REVISION or an ARN.
  Result<DefinitionRef> definition_ref(const std::string& text, std::string_view field) const;
  // An id or an ARN; nullopt-like kNotFound for text that cannot be a job's id.
  Result<JobId> job_id(const std::string& text, std::string_view field) const;
  // The ARN of any of these kinds.
  Result<ResourceRef> resource(const std::string& arn) const;

 private:
  std::string batch(std::string_view kind, std::string_view name) const;
  // What follows "arn:aws:batch:REGION:ACCOUNT:".
  Result<std::string_view> local_part(std::string_view arn, std::string_view field) const;
  Result<std::string> name_of(const std::string& text, std::string_view kind, std::string_view field) const;

  std::string region_;
  std::string account_;
};

}  // namespace teson::batch
