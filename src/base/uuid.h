// 128-bit identifiers in the usual 8-4-4-4-12 text form, as AWS job ids have it.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace teson {

struct Uuid {
  uint64_t high = 0;
  uint64_t low = 0;

  constexpr auto operator<=>(const Uuid&) const = default;
  constexpr bool is_nil() const { return high == 0 && low == 0; }

  std::string text() const;
  // Lower or upper case, with dashes; anything else is nullopt.
  static std::optional<Uuid> parse(std::string_view text);
  // Version 4 (RFC 9562) out of 128 random bits.
  static Uuid from_random_bits(uint64_t high, uint64_t low);
};

}  // namespace teson

template <>
struct std::hash<teson::Uuid> {
  size_t operator()(const teson::Uuid& id) const noexcept { return id.high ^ (id.low * 0x9E3779B97F4A7C15ULL); }
};
