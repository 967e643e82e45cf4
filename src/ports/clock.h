// Time as input. Only adapters read a clock.
#pragma once

#include "base/time.h"

namespace teson {

class Clock {
 public:
  virtual ~Clock() = default;
  // Wall time that never goes backwards within a process, whatever is done to the system's clock.
  virtual Instant now() const = 0;
  // What the system's clock says at this moment: for request signatures only.
  virtual Instant wall() const = 0;
};

}  // namespace teson
