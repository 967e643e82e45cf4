#include "wire/digest.h"

#include <gtest/gtest.h>

#include "wire/bytes.h"

namespace teson::wire {
namespace {

TEST(Digest, Sha256OfPublishedMessages) {
  // FIPS 180-4 examples.
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Digest, PiecesHashLikeTheWholeAndTheObjectStartsAnew) {
  Sha256 hash;
  hash.update("a");
  hash.update("");
  hash.update("bc");
  EXPECT_EQ(hash.digest(), sha256("abc"));
  EXPECT_EQ(hash.digest(), sha256(""));
}

TEST(Digest, HmacOfRfc4231) {
  EXPECT_EQ(hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  // Case 6: a key longer than a block.
  EXPECT_EQ(hex(hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Digest, ComparisonTellsContentAndLength) {
  EXPECT_TRUE(equal_in_constant_time("", ""));
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_in_constant_time("abc", "ab"));
}

TEST(Bytes, HexBothWays) {
  EXPECT_EQ(hex(std::span<const uint8_t>(std::array<uint8_t, 3>{0x00, 0xAB, 0xFF})), "00abff");
  EXPECT_EQ(from_hex("00aBFf"), std::string("\0\xAB\xFF", 3));
  EXPECT_EQ(from_hex("0"), std::nullopt);
  EXPECT_EQ(from_hex("0g"), std::nullopt);
}

TEST(Bytes, Base64OfRfc4648) {
  const std::pair<std::string, std::string> cases[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"},
                                                       {"\xFB\xFF", "+/8="}};
  for (const auto& [plain, encoded] : cases) {
    EXPECT_EQ(base64(plain), encoded);
    EXPECT_EQ(from_base64(encoded), plain);
  }
}

TEST(Bytes, Base64RefusesWhatHasNoSingleMeaning) {
  for (const char* text : {"Zg", "Zg=", "Z===", "====", "Zh==", "Zm9=", "Zm 9v", "Zg==Zg==", "Zm9v\n"}) {
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace teson::wire
