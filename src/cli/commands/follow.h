// What `teson run` and `teson rerun` do once their job is submitted: follow it to its end, with its exit code.
#pragma once

#include "cli/client.h"
#include "cli/commands/commands.h"

namespace teson::cli {

struct FollowOptions {
  bool detach = false;
  bool stop_on_interrupt = false;
  bool array = false;
};
void add_follow_options(CLI::App* command, FollowOptions& options);

// Submits the request; then prints the id alone (detach), or follows. The exit code is the job's own; of an array that
// of its first failed child, or 1.
Outcome<int> submit_and_follow(const Context& context, const FollowOptions& options, Client& client,
                               const Json& request);

}  // namespace teson::cli
