// Consumable resources [AWS Batch API, ConsumableResource]: what jobs share besides machines. Licences, tokens, places
// in somebody else's service.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"
#include "domain/job.h"

namespace teson {

enum class ConsumableKind {
  kReplenishable,     // comes back when the attempt ends
  kNonReplenishable,  // is used up by an attempt that began
};

struct ConsumableResource {
  std::string name;
  ConsumableKind kind = ConsumableKind::kReplenishable;
  int64_t total = 0;  // what live attempts have of it included
  Tags tags;
  Instant created;
  std::string last_token;  // clientToken of the latest update: SDKs repeat a request whose answer was lost
};

}  // namespace teson
