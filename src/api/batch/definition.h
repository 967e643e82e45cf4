// Job definitions: the registered request, checked, kept as JSON, and read again when jobs are made from it.
//
// Pure, but for DefinitionCache, which any thread may use.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>

#include "api/batch/arn.h"
#include "api/batch/container.h"
#include "api/batch/extension_tags.h"

namespace teson::batch {

// What RegisterJobDefinition may say, but for name and tags. The same shape is JobDefinition::document.
struct DefinitionBody {
  ContainerProperties container;
  Parameters parameters;
  std::optional<RetryStrategy> retry;
  std::optional<Duration> timeout;
  std::optional<bool> propagate_tags;
  int priority = 0;
  std::vector<ConsumableAsk> consumables;
  Json platform_capabilities = Json::array();
};

// Checks a whole RegisterJobDefinition request. `revision` stays 0: the loop chooses it.
Result<JobDefinition> parse_register(const Json& body);
// As DescribeJobDefinitions returns it.
Json definition_json(const JobDefinition& definition, const Arns& arns);

// A definition made ready for submits.
struct ParsedDefinition {
  std::string name;
  int revision = 0;
  DefinitionBody body;
  ExtensionTags extensions;
  std::string job_document;  // JobSpec::document of a job that changes none of it
};
Result<ParsedDefinition> parse_definition(const JobDefinition& definition);

// JobSpec::document: {"container": {...}, "parameters": {...}, "propagateTags": b, "platformCapabilities": [...]}, each
// only where it says something. What JobSpec has as values is not repeated here.
std::string job_document(const DefinitionBody& body, const Parameters& parameters, std::optional<bool> propagate_tags);

// Parsing a definition costs more than the rest of a submit. Bounded: emptied when it holds 1,000 entries.
class DefinitionCache {
 public:
  Result<std::shared_ptr<const ParsedDefinition>> get(const std::shared_ptr<const JobDefinition>& definition);

 private:
  struct Entry {
    std::shared_ptr<const JobDefinition> source;  // held, so that its address stays its identity
    std::shared_ptr<const ParsedDefinition> parsed;
  };
  std::shared_mutex mutex_;
  std::map<const JobDefinition*, Entry> entries_;
};

}  // namespace teson::batch
