// Members that are kept and given back without being read. They must have the types of AWS's model all the same: SDKs
// cannot read an answer in which a list is a number, so one bad definition would fail everybody's
// DescribeJobDefinitions. Pure; any thread.
#pragma once

#include "api/batch/validate.h"

namespace teson::batch {

// Of containerProperties. Members that the model does not know are not looked at, as nobody reads them.
Status check_kept_container(const JsonValue& properties);
// Of computeResources, in a create or an update.
Status check_kept_resources(const JsonValue& resources);
// Of CreateComputeEnvironment and UpdateComputeEnvironment themselves.
Status check_kept_environment(const JsonValue& body);

}  // namespace teson::batch
