// Compute environments between AWS's JSON and values. Pure; any thread (changes run on the loop's).
#pragma once

#include <functional>

#include "api/batch/arn.h"
#include "api/batch/settings.h"
#include "api/batch/validate.h"
#include "domain/catalogue.h"
#include "domain/environment.h"

namespace teson::batch {

// CreateComputeEnvironment. instanceTypes may name types ("m5.large"), families ("m5"), "optimal" (all c, m and r
// families of the catalogue) and "host" (this machine). UNMANAGED is one "host".
Result<ComputeEnvironment> parse_create_environment(const Json& body, const InstanceCatalogue& catalogue,
                                                    const BatchSettings& settings);

// UpdateComputeEnvironment, checked as far as the request alone tells; the rest is checked against the environment
// that it changes.
struct EnvironmentUpdate {
  std::string name;
  std::function<Status(ComputeEnvironment&)> change;
};
Result<EnvironmentUpdate> parse_update_environment(const Json& body, const Arns& arns,
                                                   const InstanceCatalogue& catalogue, const BatchSettings& settings);

// ComputeEnvironmentDetail. `live_vcpus`: what its instances have now.
Json environment_detail(const ComputeEnvironment& environment, int64_t live_vcpus, const Arns& arns);

bool is_fargate(const ComputeEnvironment& environment);

}  // namespace teson::batch
