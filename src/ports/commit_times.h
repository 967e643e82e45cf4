// How long a journal's commits took, for /metrics: measured where the disk is, as nothing above an adapter reads a
// clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace teson {

struct CommitTimes {
  // Upper bounds of the buckets, in seconds; one more bucket holds the rest.
  static constexpr std::array<double, 9> kBounds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 5};

  std::array<uint64_t, kBounds.size() + 1> counts{};
  double seconds = 0;

  void note(double took) {
    size_t bucket = 0;
    while (bucket < kBounds.size() && took > kBounds[bucket]) ++bucket;
    ++counts[bucket];
    seconds += took;
  }
};

}  // namespace teson
