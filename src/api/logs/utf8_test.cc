#include "api/logs/utf8.h"

#include <gtest/gtest.h>

namespace teson::logs {
namespace {

TEST(Utf8, WellFormedTextIsUnchanged) {
  using namespace std::string_view_literals;
  for (const auto text :
       {""sv, "plain"sv, "a\0b"sv, "Tesón ñ € 𝄞"sv, "\xF4\x8F\xBF\xBF"sv, "\xED\x9F\xBF\xEE\x80\x80"sv})
    EXPECT_EQ(valid_utf8(text), text);
}

TEST(Utf8, EachBrokenPartBecomesOneReplacement) {
  EXPECT_EQ(valid_utf8("a\xFFz"), "a\uFFFDz");
  EXPECT_EQ(valid_utf8("\x80\x80"), "\uFFFD\uFFFD");
  EXPECT_EQ(valid_utf8("\xE2\x82"), "\uFFFD");                            // cut short at the end
  EXPECT_EQ(valid_utf8("\xE2\x82z"), "\uFFFDz");                          // cut short by a letter
  EXPECT_EQ(valid_utf8("\xC0\xAF"), "\uFFFD\uFFFD");                      // overlong '/'
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");            // a surrogate
  EXPECT_EQ(valid_utf8("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // above U+10FFFF
  EXPECT_EQ(valid_utf8("\xF0\x9D\x84\xC3\xA9"), "\uFFFD\u00E9");
}

}  // namespace
}  // namespace teson::logs
