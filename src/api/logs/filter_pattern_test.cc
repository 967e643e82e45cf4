#include "api/logs/filter_pattern.h"

#include <gtest/gtest.h>

namespace teson::logs {
namespace {

bool matches(std::string_view pattern, std::string_view message) {
  const auto parsed = FilterPattern::parse(pattern);
  if (!parsed) {
    ADD_FAILURE() << pattern << ": " << parsed.error().message;
    return false;
  }
  return parsed->matches(message);
}

TEST(FilterPattern, EmptyMatchesEverything) {
  for (const auto* pattern : {"", "  ", "\"\""}) {
    EXPECT_TRUE(matches(pattern, "anything")) << pattern;
    EXPECT_TRUE(matches(pattern, "")) << pattern;
  }
}

TEST(FilterPattern, AllTermsMustBeThereInAnyOrderAndCase) {
  EXPECT_TRUE(matches("ERROR timeout", "timeout: [ERROR 404]"));
  EXPECT_FALSE(matches("ERROR timeout", "ERROR refused"));
  EXPECT_FALSE(matches("ERROR", "error"));
}

TEST(FilterPattern, PhraseIsFoundAsItStands) {
  EXPECT_TRUE(matches(R"("out of memory")", "killed: out of memory"));
  EXPECT_FALSE(matches(R"("out of memory")", "memory out of reach"));
  EXPECT_TRUE(matches(R"("say \"hi\" \\ now")", R"(say "hi" \ now)"));
  EXPECT_TRUE(matches(R"(epoch "loss=0.1")", "epoch 3 loss=0.12"));
}

TEST(FilterPattern, ExcludedTermsMustNotBeThere) {
  EXPECT_TRUE(matches("ERROR -debug", "ERROR x"));
  EXPECT_FALSE(matches("ERROR -debug", "ERROR debug"));
  EXPECT_TRUE(matches("-debug", "x"));
  EXPECT_FALSE(matches(R"(-"a b")", "a b"));
  EXPECT_TRUE(matches(R"(-"a b")", "b a"));
}

TEST(FilterPattern, AnyOfTheOptionalTermsSuffices) {
  EXPECT_TRUE(matches("?warn ?error", "an error"));
  EXPECT_TRUE(matches(R"(?warn ?"bad thing")", "a bad thing"));
  EXPECT_FALSE(matches("?warn ?error", "info"));
}

TEST(FilterPattern, OptionalTermsCountForNothingBesideOthers) {
  EXPECT_TRUE(matches("?warn request", "request done"));
  EXPECT_FALSE(matches("?warn request", "warn"));
}

TEST(FilterPattern, OtherSyntaxesAreRefused) {
  for (const auto* pattern : {"{ $.level = \"x\" }", " [ip, user]", "%ERR.R%", "-%a%", "\"open", "a\"b"}) {
    const auto parsed = FilterPattern::parse(pattern);
    ASSERT_FALSE(parsed.has_value()) << pattern;
    EXPECT_EQ(parsed.error().kind, ErrorKind::kInvalid);
    EXPECT_TRUE(parsed.error().message.starts_with("Invalid filter pattern")) << parsed.error().message;
  }
}

TEST(FilterPattern, LoneSignsAreText) {
  EXPECT_TRUE(matches("a - b", "b - a"));
  EXPECT_TRUE(matches("-", "x-y"));
  EXPECT_FALSE(matches("?", "xy"));
}

}  // namespace
}  // namespace teson::logs
