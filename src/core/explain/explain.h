// What keeps a job, or what ended it: one sentence, and below it the figures that it stands on.
//
// Pure; instants are told in UTC. The sentence of a job that waits is its statusReason.
#pragma once

#include <string>
#include <vector>

#include "domain/job.h"

namespace teson {

class State;

struct Explanation {
  std::string sentence;
  std::vector<std::string> lines;
};

// statusReason: one line. AWS's own column is 255 characters wide.
inline constexpr size_t kLongestReason = 250;

// Of a job of the state, or of a child of one of its arrays (unbegun_child). Cost: O(log n + live attempts), and for an
// array's child its array's letters.
Explanation explain_live(const State& state, const Job& job);
// Of one that has ended.
Explanation explain_end(const Job& job);

}  // namespace teson
