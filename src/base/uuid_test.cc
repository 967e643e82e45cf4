#include "base/uuid.h"

#include <gtest/gtest.h>

namespace teson {
namespace {

TEST(Uuid, TextRoundTrips) {
  const auto id = Uuid::parse("0123abcd-4567-489a-8bcd-ef0123456789");
  ASSERT_TRUE(id);
  EXPECT_EQ(id->high, 0x0123abcd4567489aULL);
  EXPECT_EQ(id->low, 0x8bcdef0123456789ULL);
  EXPECT_EQ(id->text(), "0123abcd-4567-489a-8bcd-ef0123456789");
}

TEST(Uuid, WrongTextIsRefused) {
  for (const char* text :
       {"", "0123abcd", "0123abcd-4567-489a-8bcd-ef012345678", "0123abcd-4567-489a-8bcd-ef01234567890",
        "0123abcd_4567-489a-8bcd-ef0123456789", "g123abcd-4567-489a-8bcd-ef0123456789"}) {
    EXPECT_FALSE(Uuid::parse(text)) << text;
  }
}

TEST(Uuid, RandomBitsCarryVersionAndVariant) {
  EXPECT_EQ(Uuid::from_random_bits(~0ULL, ~0ULL).text(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
  EXPECT_EQ(Uuid::from_random_bits(0, 0).text(), "00000000-0000-4000-8000-000000000000");
}

}  // namespace
}  // namespace teson
