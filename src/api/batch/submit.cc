#include "api/batch/submit.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cstring>

#include "api/batch/consumable_json.h"
#include "api/batch/policy_json.h"
#include "api/batch/retry_json.h"
#include "base/check.h"
#include "base/try.h"

namespace teson::batch {
namespace {

constexpr int64_t kMaxPriority = 9999;

Status refuse_unsupported(const JsonValue& body) {
  TESON_TRY_STATUS(refuse_member(body, "nodeOverrides", "multi-node jobs are"));
  TESON_TRY_STATUS(refuse_member(body, "eksPropertiesOverride", "jobs on EKS are"));
  TESON_TRY_STATUS(refuse_member(body, "ecsPropertiesOverride", "jobs of several containers are"));
  return {};
}

}  // namespace

Result<SubmitRequest> parse_submit(const Json& body, const Arns& arns) {
  const JsonValue value(body, "");
  SubmitRequest out;
  TESON_TRY(out.job_name, required_job_name(value, "jobName"));
  TESON_TRY(const std::string queue, wire::required_string(value, "jobQueue"));
  TESON_TRY(out.queue, arns.queue_name(queue, "jobQueue"));
  TESON_TRY(const std::string definition, wire::required_string(value, "jobDefinition"));
  TESON_TRY(out.definition, arns.definition_ref(definition, "jobDefinition"));
  TESON_TRY_STATUS(refuse_unsupported(value));
  TESON_TRY(out.array_size, parse_array_size(value));
  TESON_TRY(const wire::StringMap parameters, wire::optional_string_map(value, "parameters"));
  out.parameters = Parameters(parameters.begin(), parameters.end());
  TESON_TRY(const auto overrides, wire::optional_object(value, "containerOverrides"));
  if (overrides) {
    TESON_TRY(out.overrides, parse_container_overrides(*overrides));
  }
  TESON_TRY(out.retry, optional_retry_strategy(value));
  TESON_TRY(out.timeout, optional_timeout(value));
  TESON_TRY(out.propagate_tags, wire::optional_bool(value, "propagateTags"));
  TESON_TRY(const auto priority, wire::optional_int(value, "schedulingPriorityOverride", {0, kMaxPriority}));
  if (priority) out.priority = static_cast<int>(*priority);
  TESON_TRY(out.consumables, optional_consumables(value, "consumableResourcePropertiesOverride"));
  TESON_TRY(out.share, parse_share_identifier(value));
  TESON_TRY(out.tags, optional_tags(value, "tags"));
  TESON_TRY(out.extensions, parse_extension_tags(out.tags));
  TESON_TRY(out.depends_on, parse_dependencies(value, arns, out.array_size || out.extensions.rerun_of));
  return out;
}

Result<JobSpec> make_spec(SubmitRequest request, const ParsedDefinition& definition, const BatchSettings& settings) {
  const DefinitionBody& base = definition.body;
  JobSpec spec;
  spec.name = std::move(request.job_name);
  spec.queue = std::move(request.queue);
  spec.definition = definition.name;
  spec.definition_revision = definition.revision;
  spec.image = base.container.image;

  const bool own_document = !request.parameters.empty() || request.propagate_tags;
  Parameters parameters = std::move(request.parameters);
  parameters.insert(base.parameters.begin(), base.parameters.end());
  const auto& command = request.overrides.command.empty() ? base.container.ask.command : request.overrides.command;
  if (command.empty()) {
    return invalid(
        fmt::format("Job '{}' has no command: neither job definition {}:{} nor containerOverrides.command gives "
                    "one, and images run by this version of teson bring none",
                    spec.name, definition.name, definition.revision));
  }
  spec.command = substituted(command, parameters);
  for (const std::string& argument : spec.command) {
    if (argument.find('\0') != std::string::npos) {
      return invalid("'parameters': a value that becomes an argument must not hold a NUL character");
    }
  }
  spec.environment = merged_environment(base.container.ask.environment, request.overrides.environment);
  spec.resources = merged_resources(base.container.ask, request.overrides);

  if (request.retry) {
    spec.retry = std::move(*request.retry);
  } else if (base.retry) {
    spec.retry = *base.retry;
  }
  spec.attempt_timeout = request.timeout ? request.timeout : base.timeout;
  spec.depends_on = std::move(request.depends_on.jobs);
  spec.tags = std::move(request.tags);
  spec.share = std::move(request.share);
  spec.consumables = request.consumables ? std::move(*request.consumables) : base.consumables;
  spec.priority = request.priority.value_or(base.priority);

  const ExtensionTags extensions = merged(definition.extensions, request.extensions);
  if (extensions.grace) spec.grace = *extensions.grace;
  spec.interruptions_use_attempts = extensions.interruptions_use_attempts.value_or(settings.interruptions_use_attempts);
  spec.working_directory = extensions.working_directory.value_or("");
  spec.after_any = extensions.after_any.value_or(false);
  if (request.array_size || extensions.rerun_of) {
    spec.array = ArraySpec{.size = request.array_size.value_or(0),
                           .only = {},
                           .sequential = request.depends_on.sequential,
                           .n_to_n = std::move(request.depends_on.n_to_n),
                           .throttle = extensions.array_throttle.value_or(0)};
  }
  spec.document = own_document ? job_document(base, parameters,
                                              request.propagate_tags ? request.propagate_tags : base.propagate_tags)
                               : definition.job_document;
  return spec;
}

JobId random_job_id() {
  struct Pool {
    std::array<unsigned char, 256> bytes{};  // getrandom() of up to 256 bytes is never cut short
    size_t used = 256;
  };
  thread_local Pool pool;
  if (pool.used == pool.bytes.size()) {
    const ssize_t got = getrandom(pool.bytes.data(), pool.bytes.size(), 0);
    TESON_CHECK(got == static_cast<ssize_t>(pool.bytes.size()), "the kernel gives no random bytes");
    pool.used = 0;
  }
  uint64_t words[2];
  std::memcpy(words, pool.bytes.data() + pool.used, sizeof(words));
  pool.used += sizeof(words);
  return JobId{Uuid::from_random_bits(words[0], words[1])};
}

}  // namespace teson::batch
