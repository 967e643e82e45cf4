// Why the job whose turn it is finds no room now: which resource, how much of it, and which live jobs have it.
#pragma once

#include <string>
#include <vector>

#include "core/state/state.h"

namespace teson {

struct Holder {
  const Job* job = nullptr;
  const Attempt* attempt = nullptr;
  std::string amount;  // of the resource that is short: "5000 MiB"
};

struct Shortage {
  std::string text;             // "memory: asked 6000 MiB, free 2000 of 8000 MiB"
  std::vector<Holder> largest;  // of those that hold it, at most three, the largest first
  int holders = 0;              // all of them
};

// The job fits its queue (why_never_fits) and its queue is enabled. Cost: O(live attempts).
Shortage shortage_of(const State& state, const QueueState& queue, const Resources& ask);

// The same of the consumable resources that it asks for. Cost: O(live attempts).
Shortage consumable_shortage(const State& state, const JobSpec& spec);

// When the attempt ends at the latest, its grace included; nullopt: it has no time limit, or does not run yet.
std::optional<Instant> ends_by(const Job& job, const Attempt& attempt);

}  // namespace teson
