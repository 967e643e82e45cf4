#include "api/logs/token.h"

#include <gtest/gtest.h>

#include <vector>

namespace teson::logs {
namespace {

const std::string kHere = binding("/aws/batch/job", "train/default/1");
const std::string kElsewhere = binding("/aws/batch/job", "train/default/2");

TEST(Token, PageTokenIsItsPlaceBoundToItsStream) {
  EXPECT_EQ(kHere.size(), 16u);
  EXPECT_EQ(page_token({true, {0, 1234}}, kHere), "f/1234/" + kHere);
  EXPECT_EQ(page_token({false, {1700, 5}}, kHere), "b/1700.5/" + kHere);
  EXPECT_EQ(parse_page_token("f/1234/" + kHere, kHere), (PageToken{true, {0, 1234}}));
  EXPECT_EQ(parse_page_token("b/1700.5/" + kHere, kHere), (PageToken{false, {1700, 5}}));
  EXPECT_FALSE(parse_page_token("f/1234/" + kElsewhere, kHere));
}

TEST(Token, MalformedPageTokensAreRefused) {
  for (const std::string& text : std::vector<std::string>{
           "", "f", "f/1", "f/1/", "x/1/" + kHere, "f//" + kHere, "f/-1/" + kHere, "f/1x/" + kHere, "f/1.2.3/" + kHere,
           "f/.2/" + kHere, "f/99999999999999999999999/" + kHere, "f/1/" + kHere + "/", "ff/1/" + kHere})
    EXPECT_FALSE(parse_page_token(text, kHere)) << text;
}

TEST(Token, SearchTokenKeepsAnyStreamName) {
  for (const auto* name : {"", "plain", "with/slashes/and.dots", "ñandú\n"}) {
    const SearchToken token{1'700'000'000'123, name, {0, 77}};
    EXPECT_EQ(parse_search_token(search_token(token, kHere), kHere), token) << name;
    EXPECT_FALSE(parse_search_token(search_token(token, kHere), kElsewhere));
  }
  for (const std::string& text :
       {std::string(), "s/" + kHere, "s/" + kHere + "/1", "s/" + kHere + "/x/1/n", "l/" + kHere + "/1/1/n"})
    EXPECT_FALSE(parse_search_token(text, kHere)) << text;
}

TEST(Token, ListTokenIsAfterAnEntry) {
  const ListToken token{17, "a/b"};
  EXPECT_EQ(list_token(token, kHere), "l/" + kHere + "/17/a/b");
  EXPECT_EQ(parse_list_token(list_token(token, kHere), kHere), token);
  EXPECT_FALSE(parse_list_token("l/" + kHere + "/17/", kHere));
  EXPECT_FALSE(parse_list_token(list_token(token, kHere), kElsewhere));
}

}  // namespace
}  // namespace teson::logs
