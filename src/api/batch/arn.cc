#include "api/batch/arn.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "api/batch/validate.h"
#include "base/try.h"

namespace teson::batch {
namespace {

constexpr std::string_view kEnvironment = "compute-environment/";
constexpr std::string_view kQueue = "job-queue/";
constexpr std::string_view kDefinition = "job-definition/";
constexpr std::string_view kPolicy = "scheduling-policy/";
constexpr std::string_view kConsumable = "consumable-resource/";
constexpr std::string_view kJob = "job/";

// "name" or "name:7".
Result<DefinitionRef> parse_definition(std::string_view text, std::string_view field) {
  const size_t colon = text.find(':');
  DefinitionRef ref{std::string(text.substr(0, colon)), 0};
  bool good = is_resource_name(ref.name);
  if (good && colon != std::string_view::npos) {
    const std::string_view digits = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ref.revision);
    good = error == std::errc() && end == digits.data() + digits.size() && ref.revision > 0;
  }
  if (good) return ref;
  return invalid(fmt::format("Value {} at '{}' is no job definition: give NAME, NAME:REVISION or its ARN",
                             in_quotes(text), field));
}

}  // namespace

Arns::Arns(std::string region, std::string account) : region_(std::move(region)), account_(std::move(account)) {}

std::string Arns::batch(std::string_view kind, std::string_view name) const {
  return fmt::format("arn:aws:batch:{}:{}:{}{}", region_, account_, kind, name);
}

std::string Arns::definition(std::string_view name, int revision) const {
  return batch(kDefinition, fmt::format("{}:{}", name, revision));
}

std::string Arns::cluster(std::string_view environment) const {
  return fmt::format("arn:aws:ecs:{}:{}:cluster/{}", region_, account_, environment);
}

std::string Arns::container_instance(std::string_view environment, const InstanceId& instance) const {
  return fmt::format("arn:aws:ecs:{}:{}:container-instance/{}/{}", region_, account_, environment, instance.text());
}

std::string Arns::task(std::string_view environment, std::string_view task_id) const {
  return fmt::format("arn:aws:ecs:{}:{}:task/{}/{}", region_, account_, environment, task_id);
}

Result<std::string_view> Arns::local_part(std::string_view arn, std::string_view field) const {
  const std::string own = fmt::format("arn:aws:batch:{}:{}:", region_, account_);
  if (arn.starts_with(own)) return arn.substr(own.size());
  return invalid(
      fmt::format("Value {} at '{}' is not an ARN of this server: its ARNs begin with {}", in_quotes(arn), field, own));
}

Result<std::string> Arns::name_of(const std::string& text, std::string_view kind, std::string_view field) const {
  std::string_view name = text;
  if (text.starts_with("arn:")) {
    TESON_TRY(const std::string_view local, local_part(text, field));
    if (!local.starts_with(kind)) {
      return invalid(fmt::format("Value {} at '{}' is the ARN of something else: it must go on with {}",
                                 in_quotes(text), field, kind));
    }
    name = local.substr(kind.size());
  }
  if (!is_resource_name(name)) {
    return invalid(fmt::format("Value {} at '{}' is no name: {}", in_quotes(name), field, kNameRule));
  }
  return std::string(name);
}

Result<std::string> Arns::environment_name(const std::string& text, std::string_view field) const {
  return name_of(text, kEnvironment, field);
}

Result<std::string> Arns::queue_name(const std::string& text, std::string_view field) const {
  return name_of(text, kQueue, field);
}

Result<std::string> Arns::policy_name(const std::string& text, std::string_view field) const {
  return name_of(text, kPolicy, field);
}

Result<std::string> Arns::consumable_name(const std::string& text, std::string_view field) const {
  return name_of(text, kConsumable, field);
}

Result<DefinitionRef> Arns::definition_ref(const std::string& text, std::string_view field) const {
  if (!text.starts_with("arn:")) return parse_definition(text, field);
  TESON_TRY(const std::string_view local, local_part(text, field));
  if (!local.starts_with(kDefinition)) {
    return invalid(fmt::format("Value {} at '{}' is not the ARN of a job definition", in_quotes(text), field));
  }
  return parse_definition(local.substr(kDefinition.size()), field);
}

Result<JobId> Arns::job_id(const std::string& text, std::string_view field) const {
  std::string_view id = text;
  if (text.starts_with("arn:")) {
    TESON_TRY(const std::string_view local, local_part(text, field));
    if (local.starts_with(kJob)) id = local.substr(kJob.size());
  }
  if (const auto parsed = JobId::parse(id)) return *parsed;
  return not_found(
      fmt::format("Job {} does not exist: a job's id is 32 hexadecimal digits with dashes", in_quotes(text)));
}

Result<ResourceRef> Arns::resource(const std::string& arn) const {
  TESON_TRY(const std::string_view local, local_part(arn, "resourceArn"));
  if (local.starts_with(kEnvironment)) {
    TESON_TRY(std::string name, environment_name(arn, "resourceArn"));
    return EnvironmentRef{std::move(name)};
  }
  if (local.starts_with(kQueue)) {
    TESON_TRY(std::string name, queue_name(arn, "resourceArn"));
    return QueueRef{std::move(name)};
  }
  if (local.starts_with(kPolicy)) {
    TESON_TRY(std::string name, policy_name(arn, "resourceArn"));
    return PolicyRef{std::move(name)};
  }
  if (local.starts_with(kConsumable)) {
    TESON_TRY(std::string name, consumable_name(arn, "resourceArn"));
    return ConsumableRef{std::move(name)};
  }
  if (local.starts_with(kDefinition)) {
    TESON_TRY(DefinitionRef ref, definition_ref(arn, "resourceArn"));
    if (ref.revision > 0) return ref;
    return invalid(
        fmt::format("Value {} at 'resourceArn' has no revision: tags belong to NAME:REVISION", in_quotes(arn)));
  }
  if (local.starts_with(kJob)) {
    TESON_TRY(const JobId id, job_id(arn, "resourceArn"));
    return id;
  }
  return invalid(
      fmt::format("Value {} at 'resourceArn' can have no tags: compute environments, job queues, scheduling "
                  "policies, consumable resources, job definitions and jobs can",
                  in_quotes(arn)));
}

}  // namespace teson::batch
