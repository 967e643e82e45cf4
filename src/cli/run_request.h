// What `teson run` was asked for, checked, and as the Batch requests that carry it out.
//
// What AWS has no field for travels as tags that begin "teson:": working-directory, grace-seconds, interruptions,
// after, array-throttle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/failure.h"
#include "cli/json_access.h"

namespace teson::cli {

// What has to end first: ids, or beginnings of some. The plain ones wait for success, the others for any end; Batch
// knows no difference and the tag teson:after is the job's, so a job has one kind or the other.
struct Dependencies {
  std::vector<std::string> after, after_any;
  std::vector<std::string> each_after, each_after_any;  // N_TO_N: of an array, child by child
  bool sequential = false, sequential_any = false;      // a child after the one before it
};

struct RunOptions {
  std::string name;  // empty: made from the command
  bool spot = false;
  std::string queue;  // empty: "default", or "spot" with --spot
  std::string vcpus = "1";
  std::string memory = "2GiB";
  int64_t gpus = 0;
  int64_t retries = 0;  // tries after the first
  std::string max_run;  // empty: no limit
  std::string image = "host";
  std::vector<std::string> environment;  // K=V, or K: its value here
  std::string array;                     // "0-99%8"; empty: a single job
  Dependencies depends_on;
  std::string working_directory;  // empty: the current one; "fresh": the attempt's own
  std::string grace;              // empty: the server's default
  std::vector<std::string> command;
};

// Every flag is looked at, no server needed. `current_directory` is absolute. The result is a SubmitJob request, still
// without dependsOn.
Outcome<Json> submit_request(const RunOptions& options, const std::string& current_directory);

// Batch cannot override an image, so each image has a definition: "teson-run" for the host's own file system,
// "teson-run-<image>-<hash>" for others.
std::string definition_name(const std::string& image);
Json register_request(const std::string& image);

// A job name that says something: "train" for `python3 train.py`, "make" for `make all`.
std::string name_from_command(const std::vector<std::string>& command);

}  // namespace teson::cli
