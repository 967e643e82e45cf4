#include "wire/credentials.h"

#include <gtest/gtest.h>

namespace teson::wire {
namespace {

std::string error_of(std::string_view text) {
  const auto result = parse_credentials(text);
  return result ? "accepted" : result.error().message;
}

TEST(Credentials, ReadsProfilesAndIgnoresTheRest) {
  const auto profiles = parse_credentials(
      "\xEF\xBB\xBF# made by hand\r\n[default]\r\naws_access_key_id = AKID\r\nAWS_SECRET_ACCESS_KEY=a=b/c+d\r\nregion "
      "= x\r\n"
      "\n; other\n[ two ]\naws_access_key_id=K2\naws_secret_access_key=S2\naws_session_token=T\ns3 =\n  max_queue_size "
      "= 1\n"
      "[role only]\nrole_arn = arn:x\n");
  ASSERT_TRUE(profiles) << profiles.error().message;
  const std::vector<CredentialProfile> expected = {{"default", "AKID", "a=b/c+d", ""}, {"two", "K2", "S2", "T"}};
  EXPECT_EQ(*profiles, expected);
  EXPECT_EQ(find_profile(*profiles, "two")->access_key_id, "K2");
  EXPECT_EQ(find_profile(*profiles, "three").error().message,
            "credentials: there is no profile 'three' with keys; there is: default, two");
}

TEST(Credentials, SaysWhichLineIsWrong) {
  EXPECT_EQ(error_of("\naws_access_key_id = A\n"),
            "credentials, line 2: there is a setting before any profile; a line such as [default] must come first");
  EXPECT_EQ(error_of("[a]\nnonsense\n"), "credentials, line 2: expected 'name = value'");
  EXPECT_EQ(error_of("[a\n"), "credentials, line 1: a profile is written [name], and nothing may follow the ']'");
  EXPECT_EQ(error_of("[]\n"), "credentials, line 1: the profile has no name between '[' and ']'");
  EXPECT_EQ(error_of("[a]\n[a]\n"), "credentials, line 2: the profile 'a' is there already");
  EXPECT_EQ(error_of("[a]\naws_access_key_id=A\naws_access_key_id=B\n"),
            "credentials, line 3: 'aws_access_key_id' is given twice in profile 'a'");
  EXPECT_EQ(error_of("[a]\naws_access_key_id=\n"), "credentials, line 2: 'aws_access_key_id' has no value");
  EXPECT_EQ(error_of("\n[a]\naws_access_key_id=A\n"),
            "credentials, line 2: profile 'a' has aws_access_key_id but no aws_secret_access_key");
  EXPECT_EQ(error_of("[a]\nx = \x01\n"), "credentials, line 2: there is a control character in it");
  EXPECT_NE(error_of(std::string(1024 * 1024 + 1, '#')).find("1048577 bytes"), std::string::npos);
}

TEST(Credentials, NeverQuotesASecret) {
  EXPECT_EQ(error_of("[a]\naws_secret_access_key=TOPSECRET\naws_secret_access_key=TOPSECRET2\n").find("TOPSECRET"),
            std::string::npos);
}

TEST(Credentials, WhatIsWrittenReadsBack) {
  const std::vector<CredentialProfile> profiles = {{"default", "AKID", "s/e+c=", ""}, {"my lab", "K", "S", "T"}};
  EXPECT_EQ(parse_credentials(render_credentials(profiles).value()).value(), profiles);
  EXPECT_FALSE(render_credentials({{"a]b", "K", "S", ""}}));
  EXPECT_FALSE(render_credentials({{"a", "K\n", "S", ""}}));
  EXPECT_FALSE(render_credentials({{"a", "K", " S", ""}}));
  EXPECT_FALSE(render_credentials({{"a", "", "S", ""}}));
}

}  // namespace
}  // namespace teson::wire
