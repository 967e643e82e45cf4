// Following an array to its end: how far it is, while it goes on.
#pragma once

#include <functional>
#include <string>

#include "cli/array_view.h"
#include "cli/log_reader.h"
#include "cli/progress_line.h"

namespace teson::cli {

struct ArrayEnd {
  Json detail;               // the array's JobDetail, as it was last
  bool interrupted = false;  // Ctrl-C; the array goes on
};

// Until the array has ended. Outlasts a server that is away for a while, as following a log does.
Outcome<ArrayEnd> follow_array(Client& client, const std::string& id, ProgressLine& progress, const FollowHooks& hooks);

}  // namespace teson::cli
