// Our own pseudo-random streams: the same seed and name give the same numbers on every machine and build.
//
// xoshiro256** seeded by splitmix64 (Blackman and Vigna, 2018, "Scrambled linear pseudorandom number generators").
// Not for secrets.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace teson {

class Prng {
 public:
  explicit Prng(uint64_t seed);
  // A stream of its own for one purpose, so that adding a draw in one place shifts nothing elsewhere.
  Prng(uint64_t seed, std::string_view stream);

  uint64_t next() {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }
  // Uniform in [0, bound); bound > 0.
  uint64_t below(uint64_t bound);
  // Uniform in [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  bool chance(double probability) { return uniform() < probability; }

 private:
  uint64_t state_[4];
};

}  // namespace teson
