#include "wire/uri.h"

#include <gtest/gtest.h>

namespace teson::wire {
namespace {

TEST(PercentEncode, KeepsOnlyUnreserved) {
  EXPECT_EQ(percent_encode("AZaz09-._~"), "AZaz09-._~");
  EXPECT_EQ(percent_encode("a b/c+d"), "a%20b%2Fc%2Bd");
  EXPECT_EQ(percent_encode("a b/c", true), "a%20b/c");
  EXPECT_EQ(percent_encode("\xE1\x88\xB4%"), "%E1%88%B4%25");
}

TEST(PercentDecode, RefusesHalfEscapes) {
  EXPECT_EQ(percent_decode("a%20b%2fc+").value(), "a b/c+");
  for (const char* text : {"%", "%2", "a%2", "%zz", "%2g"}) EXPECT_FALSE(percent_decode(text)) << text;
  EXPECT_NE(percent_decode("ab%2").error().message.find("position 2"), std::string::npos);
}

TEST(ParseQuery, KeepsOrderAndRepeats) {
  const std::vector<QueryParameter> expected = {{"b", "1"}, {"a", "x y"}, {"b", ""}, {"c", "="}, {"d", "+"}};
  EXPECT_EQ(parse_query("b=1&a=x+y&&b&c==&d=%2B&").value(), expected);
  EXPECT_TRUE(parse_query("").value().empty());
  EXPECT_FALSE(parse_query("a=%"));
  EXPECT_FALSE(parse_query("%=a"));
}

TEST(NormalizePath, ResolvesDotsAndSlashes) {
  // The paths of the SigV4 test suite's normalize-path group, and edges.
  EXPECT_EQ(normalize_path(""), "/");
  EXPECT_EQ(normalize_path("/"), "/");
  EXPECT_EQ(normalize_path("//"), "/");
  EXPECT_EQ(normalize_path("/./"), "/");
  EXPECT_EQ(normalize_path("/./example"), "/example");
  EXPECT_EQ(normalize_path("/example/.."), "/");
  EXPECT_EQ(normalize_path("/example1/example2/../.."), "/");
  EXPECT_EQ(normalize_path("//example//"), "/example/");
  EXPECT_EQ(normalize_path("/../../a"), "/a");
  EXPECT_EQ(normalize_path("/a/./b//../c/"), "/a/c/");
  EXPECT_EQ(normalize_path("/a/..b/...c"), "/a/..b/...c");
}

}  // namespace
}  // namespace teson::wire
