// SubmitJob: the request plus its definition make a JobSpec. Pure; any thread. This is the hot path.
#pragma once

#include "api/batch/array_json.h"
#include "api/batch/definition.h"
#include "api/batch/settings.h"

namespace teson::batch {

struct SubmitRequest {
  std::string job_name;
  std::string queue;  // name, out of name or ARN
  DefinitionRef definition;
  std::optional<int> array_size;
  Dependencies depends_on;
  Parameters parameters;
  ContainerAsk overrides;
  std::optional<RetryStrategy> retry;
  std::optional<Duration> timeout;
  std::optional<bool> propagate_tags;
  std::string share;
  std::optional<std::vector<ConsumableAsk>> consumables;
  std::optional<int> priority;
  Tags tags;
  ExtensionTags extensions;
};

Result<SubmitRequest> parse_submit(const Json& body, const Arns& arns);
// Of a rerun (extensions.rerun_of) the array's size may still be 0, and its children are not chosen yet.
Result<JobSpec> make_spec(SubmitRequest request, const ParsedDefinition& definition, const BatchSettings& settings);

// A random version 4 id from the kernel's generator, a few hundred to the system call. Any thread.
JobId random_job_id();

}  // namespace teson::batch
