#include "base/uuid.h"

namespace teson {
namespace {

constexpr char kHex[] = "0123456789abcdef";

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr bool is_dash_position(size_t i) { return i == 8 || i == 13 || i == 18 || i == 23; }

}  // namespace

std::string Uuid::text() const {
  std::string out(36, '-');
  int nibble = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    if (is_dash_position(i)) continue;
    const uint64_t word = nibble < 16 ? high : low;
    out[i] = kHex[(word >> (60 - 4 * (nibble % 16))) & 15];
    ++nibble;
  }
  return out;
}

std::optional<Uuid> Uuid::parse(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  Uuid id;
  int nibble = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (is_dash_position(i)) {
      if (text[i] != '-') return std::nullopt;
      continue;
    }
    const int value = hex_value(text[i]);
    if (value < 0) return std::nullopt;
    uint64_t& word = nibble < 16 ? id.high : id.low;
    word = word << 4 | static_cast<uint64_t>(value);
    ++nibble;
  }
  return id;
}

Uuid Uuid::from_random_bits(uint64_t high, uint64_t low) {
  high = (high & ~uint64_t{0xF000}) | 0x4000;
  low = (low & ~(uint64_t{3} << 62)) | uint64_t{2} << 62;
  return {high, low};
}

}  // namespace teson
