#include "base/prng.h"

namespace teson {
namespace {

__extension__ using Wide = unsigned __int128;

uint64_t splitmix64(uint64_t& state) {
  uint64_t z = state += 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

uint64_t fnv1a(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return hash;
}

}  // namespace

Prng::Prng(uint64_t seed) {
  for (auto& word : state_) word = splitmix64(seed);
}

Prng::Prng(uint64_t seed, std::string_view stream) : Prng(seed ^ fnv1a(stream)) {}

uint64_t Prng::below(uint64_t bound) {
  // Lemire's multiply-shift with rejection: exact, and one multiplication in the common case.
  Wide product = static_cast<Wide>(next()) * bound;
  auto low = static_cast<uint64_t>(product);
  if (low < bound) {
    const uint64_t threshold = (0 - bound) % bound;
    while (low < threshold) {
      product = static_cast<Wide>(next()) * bound;
      low = static_cast<uint64_t>(product);
    }
  }
  return static_cast<uint64_t>(product >> 64);
}

}  // namespace teson
