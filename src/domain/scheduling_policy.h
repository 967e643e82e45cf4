// Fair-share scheduling policies [AWS Batch API, FairsharePolicy]: who gets how much of a queue's capacity.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "domain/job.h"

namespace teson {

struct ShareWeight {
  std::string identifier;      // a trailing '*' stands for every identifier that begins so
  int64_t weight_e4 = 10'000;  // ten-thousandths. The smaller, the larger the share: 0.5 gets twice what 1 gets
};

struct SchedulingPolicy {
  std::string name;
  int64_t decay_seconds = 0;        // what ran longer ago than this counts little; 0: 600 s
  int compute_reservation = 0;      // percent kept, to the power of the active shares, for shares that come later
  std::vector<ShareWeight> shares;  // no two may mean the same identifier; others weigh 1
  Tags tags;
  Instant created;
};

// Seconds in which a share's past use falls to 1/e.
int64_t decay_seconds_of(const SchedulingPolicy& policy);
int64_t weight_e4_of(const SchedulingPolicy& policy, std::string_view identifier);
// Do the two entries mean an identifier in common?
bool overlap(std::string_view a, std::string_view b);

}  // namespace teson
