// What the Batch face must know about the server it runs in. Values, fixed at start-up.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "domain/resources.h"

namespace teson::batch {

struct BatchSettings {
  std::string region = "us-east-1";
  std::string account_id = "000000000000";  // 12 digits
  // Whether a lost machine uses up one of the job's attempts, where no tag teson:interruptions says so.
  bool interruptions_use_attempts = true;
  // The size of the instance type "host": this machine's usable resources.
  Resources host;
  // Whether this user's jobs can be run here: else why not. Any thread; null: everybody's.
  std::function<Status(const std::string& user)> admits = {};
};

}  // namespace teson::batch
