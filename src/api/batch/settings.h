// What the Batch face must know about the server it runs in. Values, fixed at start-up.
#pragma once

#include <string>

#include "domain/resources.h"

namespace teson::batch {

struct BatchSettings {
  std::string region = "us-east-1";
  std::string account_id = "000000000000";  // 12 digits
  // Whether a lost machine uses up one of the job's attempts, where no tag teson:interruptions says so.
  bool interruptions_use_attempts = true;
  // The size of the instance type "host": this machine's usable resources.
  Resources host;
};

}  // namespace teson::batch
