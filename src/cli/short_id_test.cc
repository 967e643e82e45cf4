#include "cli/short_id.h"

#include <gtest/gtest.h>

namespace teson::cli {
namespace {

const std::string kA = "1f3c0000-0000-4000-8000-000000000001";
const std::string kB = "1f3c0000-0000-4000-9000-000000000002";
const std::string kC = "22aa44bb-0000-4000-8000-000000000003";

TEST(ShortIds, AreEightLongUnlessThatIsAmbiguous) {
  EXPECT_EQ(short_ids({kA, kC}), (std::vector<std::string>{"1f3c0000", "22aa44bb"}));
  EXPECT_EQ(short_ids({kC, kA, kB}),
            (std::vector<std::string>{"22aa44bb", "1f3c0000-0000-4000-8", "1f3c0000-0000-4000-9"}));
  EXPECT_TRUE(short_ids({}).empty());
}

TEST(ShortIds, SameIdTwiceIsNotAmbiguous) {
  EXPECT_EQ(short_ids({kA, kA}), (std::vector<std::string>{"1f3c0000", "1f3c0000"}));
}

TEST(IsIdPrefix, KnowsWhereDashesStand) {
  EXPECT_TRUE(is_id_prefix("1"));
  EXPECT_TRUE(is_id_prefix("1F3C0000-0"));
  EXPECT_TRUE(is_id_prefix(kA));
  EXPECT_TRUE(is_whole_id(kA));
  EXPECT_FALSE(is_whole_id("1f3c"));
  for (const char* text : {"", "train", "1f3c-", "1f3c00001", "1f3c0000-0000-4000-8000-0000000000011", "../x"}) {
    EXPECT_FALSE(is_id_prefix(text)) << text;
  }
}

TEST(MatchId, FindsTheOneThatBeginsSo) {
  EXPECT_EQ(match_id("22", {kA, kB, kC}).value(), kC);
  EXPECT_EQ(match_id("22AA", {kA, kB, kC}).value(), kC);
  EXPECT_EQ(match_id("22", {kC, kC}).value(), kC);
}

TEST(MatchId, NamesTheCandidatesOfAnAmbiguousPrefix) {
  const auto match = match_id("1f3c", {kA, kB, kC});
  ASSERT_FALSE(match);
  EXPECT_EQ(match.error().kind, FailureKind::kUsage);
  EXPECT_EQ(match.error().message, "'1f3c' begins the ids of 2 jobs (" + kA + ", " + kB + "); give more of it");
}

TEST(MatchId, SaysThatThereIsNone) {
  EXPECT_EQ(match_id("77", {kA}).error().message,
            "no job has an id that begins with '77'; 'teson jobs --all' lists them");
}

TEST(ShortIds, AChildIsItsArrayAndItsIndex) {
  const std::string a = "1f3c0000-0000-4000-8000-000000000001";
  const std::string b = "1f3c0000-1000-4000-8000-000000000002";
  EXPECT_EQ(short_ids({a + ":0", a + ":17", a}), (std::vector<std::string>{"1f3c0000:0", "1f3c0000:17", "1f3c0000"}));
  EXPECT_EQ(short_ids({a + ":0", b}), (std::vector<std::string>{"1f3c0000-0:0", "1f3c0000-1"}));
  EXPECT_EQ(short_form(a + ":9999"), "1f3c0000:9999");
  EXPECT_EQ(short_form(a), "1f3c0000");
}

TEST(IsIndexPart, IsZeroTo9999WithOneWayToWriteEach) {
  for (const char* good : {"", ":0", ":17", ":9999"}) EXPECT_TRUE(is_index_part(good)) << good;
  for (const char* bad : {":", ":10000", ":-1", ":01", ":1:2", ":x", ": 1"}) EXPECT_FALSE(is_index_part(bad)) << bad;
}

}  // namespace
}  // namespace teson::cli
