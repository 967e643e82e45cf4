// Container properties: what a definition says, what a submit changes, and what comes out. Pure; any thread.
//
// Precedence of resources [AWS Batch API, ContainerOverrides.vcpus]: resourceRequirements of the submit, then those of
// the definition, then the deprecated vcpus/memory of the submit, then the definition's.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/batch/validate.h"
#include "domain/job.h"

namespace teson::batch {

// Each absent where it was not given.
struct ResourceAsk {
  std::optional<int64_t> milli_vcpus;
  std::optional<int64_t> memory_mib;
  std::optional<int64_t> gpus;
};

// What properties and overrides have in common.
struct ContainerAsk {
  std::vector<std::string> command;  // empty: not given
  EnvironmentVariables environment;
  ResourceAsk listed;  // resourceRequirements
  ResourceAsk legacy;  // vcpus, memory
};

struct ContainerProperties {
  std::string image;
  ContainerAsk ask;
  Json rest = Json::object();  // volumes, roles and all else that means nothing here: kept and returned
};

// Requires an image and, somewhere, vCPUs and memory.
Result<ContainerProperties> parse_container_properties(const JsonValue& value);
Result<ContainerAsk> parse_container_overrides(const JsonValue& value);

// Overridden by name in place, new ones after, as on AWS.
EnvironmentVariables merged_environment(const EnvironmentVariables& base, const EnvironmentVariables& overrides);
Resources merged_resources(const ContainerAsk& definition, const ContainerAsk& overrides);

using Parameters = std::map<std::string, std::string>;
// An argument that is exactly "Ref::name" becomes the parameter's value; one that names no parameter stays as it is.
std::vector<std::string> substituted(const std::vector<std::string>& command, const Parameters& parameters);

// "resourceRequirements" as clients read it.
Json requirements_json(const Resources& resources);

}  // namespace teson::batch
