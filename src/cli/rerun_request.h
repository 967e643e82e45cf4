// The failed children of an array once more: the SubmitJob request, made of how the server describes the array.
#pragma once

#include "cli/failure.h"
#include "cli/json_access.h"

namespace teson::cli {

// Everything as it was (definition, command, environment, resources, retries, timeout, queue, name, tags), and the tag
// teson:rerun-of, by which the server chooses the children. What the array waited for is over and done, so it waits for
// nothing again; a SEQUENTIAL one stays one. Usage failure for what is no array.
Outcome<Json> rerun_request(const Json& detail);

}  // namespace teson::cli
