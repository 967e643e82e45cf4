// Money in whole millionths of a US dollar. Never floating point: bills must add up.
#pragma once

#include <compare>
#include <cstdint>

namespace teson {

struct Money {
  int64_t micro_usd = 0;

  constexpr auto operator<=>(const Money&) const = default;
  constexpr Money operator+(Money other) const { return {micro_usd + other.micro_usd}; }
  constexpr Money operator-(Money other) const { return {micro_usd - other.micro_usd}; }
};

}  // namespace teson
