#include "cli/array_range.h"

#include <gtest/gtest.h>

namespace teson::cli {
namespace {

TEST(ParseArrayRange, IsZeroToLastWithOrWithoutAThrottle) {
  EXPECT_EQ(parse_array_range("0-99")->size, 100);
  EXPECT_EQ(parse_array_range("0-99")->throttle, 0);
  EXPECT_EQ(parse_array_range("0-1")->size, 2);
  EXPECT_EQ(parse_array_range("0-9999")->size, 10'000);
  EXPECT_EQ(parse_array_range("0-99%8")->size, 100);
  EXPECT_EQ(parse_array_range("0-99%8")->throttle, 8);
}

TEST(ParseArrayRange, SaysWhatWouldBeRight) {
  const auto why = [](const char* text) { return parse_array_range(text).error().message; };
  EXPECT_EQ(why("1-100"), "'1-100' does not begin with 0, as Batch's indexes do; 100 children are 0-99");
  EXPECT_EQ(why("100"), "'100' is not a range of indexes; 100 children are 0-99");
  EXPECT_EQ(why("0-0"), "'0-0' is 1 child; an array has 2 to 10000 of them: 0-1 to 0-9999");
  EXPECT_EQ(why("0-10000"), "'0-10000' is 10001 children; an array has 2 to 10000 of them: 0-1 to 0-9999");
  EXPECT_EQ(why("5-5"), "'5-5' is 1 child; an array has 2 to 10000 of them: 0-1 to 0-9999");
  for (const char* nonsense :
       {"", "-", "0-", "-9", "0-9-9", "0..9", "9-0", "0-1,3", "0x0-9", " 0-9", "0-99999999999"}) {
    EXPECT_EQ(why(nonsense),
              "'" + std::string(nonsense) + "' is not a range of indexes; write it like 0-99, or 0-99%8 for 8 at once");
  }
  for (const char* throttle : {"0-9%", "0-9%0", "0-9%-1", "0-9%x", "0-9%10001", "0-9%8%8"}) {
    EXPECT_EQ(why(throttle), "'" + std::string(throttle) +
                                 "': after % comes how many children run at once, 1 to 10000; without it there is no "
                                 "limit");
  }
}

TEST(ParseThrottle, ZeroIsNoLimit) {
  EXPECT_EQ(parse_throttle("0").value(), 0);
  EXPECT_EQ(parse_throttle("10000").value(), 10'000);
  for (const char* bad : {"", "-1", "10001", "8x", "1.5"}) EXPECT_FALSE(parse_throttle(bad)) << bad;
}

}  // namespace
}  // namespace teson::cli
