#include "base/prng.h"

#include <gtest/gtest.h>

#include <array>

namespace teson {
namespace {

TEST(Prng, SameSeedAndStreamGiveTheSameNumbers) {
  Prng a(7, "market"), b(7, "market"), c(7, "launcher");
  int differs = 0;
  for (int i = 0; i < 100; ++i) {
    const uint64_t value = a.next();
    EXPECT_EQ(value, b.next());
    differs += value != c.next();
  }
  EXPECT_EQ(differs, 100);
}

TEST(Prng, BelowCoversItsRangeEvenly) {
  Prng prng(1);
  std::array<int, 6> counts{};
  for (int i = 0; i < 60'000; ++i) ++counts.at(prng.below(6));
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);  // five standard deviations are 456
}

TEST(Prng, UniformStaysInTheHalfOpenUnitInterval) {
  Prng prng(2);
  for (int i = 0; i < 10'000; ++i) {
    const double x = prng.uniform();
    EXPECT_GE(x, 0.0);
    EXPECT_LT(x, 1.0);
  }
}

}  // namespace
}  // namespace teson
