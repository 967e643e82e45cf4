#include "serve/accounts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace teson {
namespace {

using testing::Contains;
using testing::HasSubstr;

// Debian's own: games has uid 5 and group 60, daemon uid 1, nobody 65534.
class AccountsTest : public testing::Test {
 protected:
  users::UserRegistry registry{{{"default", {"default", Role::kAdmin, {}, {}, true, {}}},
                                {"ana", {"ana", Role::kUser, {}, {}, false, {}}},
                                {"bo", {"bo", Role::kUser, {}, {}, false, "games"}},
                                {"gone", {"gone", Role::kUser, {}, {}, false, "no-such-account"}}},
                               [](const users::Users&) -> Status { return {}; }};
  Accounts with(AccountRule rule) { return Accounts({rule, {"games"}}, registry); }
  const bool root = geteuid() == 0;
};

TEST_F(AccountsTest, OnlyAccountsOfPeopleAndThoseNamedAreFound) {
  const Accounts accounts = with(AccountRule::kAuto);
  const auto games = accounts.find("games");
  ASSERT_TRUE(games) << games.error().message;
  EXPECT_EQ(games->uid, 5u);
  EXPECT_EQ(games->gid, 60u);
  EXPECT_THAT(games->groups, Contains(60u));
  EXPECT_EQ(games->home, "/usr/games");
  EXPECT_THAT(accounts.find("root").error().message, HasSubstr("uid 0: jobs do not run as root"));
  EXPECT_THAT(accounts.find("daemon").error().message, HasSubstr("uid 1: jobs do not run as accounts of the system"));
  EXPECT_THAT(accounts.find("nobody").error().message, HasSubstr("system_accounts: [nobody]"));
  EXPECT_EQ(accounts.find("").error().kind, ErrorKind::kInvalid);
}

TEST_F(AccountsTest, TheRuleSaysWhoMayDoWithout) {
  EXPECT_EQ(with(AccountRule::kOff).of("ana").value(), std::nullopt);
  EXPECT_EQ(with(AccountRule::kRequired).of("ana").error().kind, ErrorKind::kDenied);
  EXPECT_EQ(with(AccountRule::kRequired).of("default").error().kind, ErrorKind::kDenied);
  EXPECT_EQ(with(AccountRule::kAuto).of("default").value(), std::nullopt);
  EXPECT_EQ(with(AccountRule::kAuto).of("ana").has_value(), !root);
  EXPECT_EQ(with(AccountRule::kAuto).of("unheard-of").has_value(), !root);
}

TEST_F(AccountsTest, AnAccountThatCannotBeTakenOnIsAnErrorAndNeverTheServersOwn) {
  for (const AccountRule rule : {AccountRule::kAuto, AccountRule::kRequired, AccountRule::kOff}) {
    EXPECT_THAT(with(rule).of("gone").error().message, HasSubstr("there is no Unix account 'no-such-account'"));
    const auto games = with(rule).of("bo");
    ASSERT_EQ(games.has_value(), root);
    if (root) {
      EXPECT_EQ((*games)->name, "games");
    } else {
      EXPECT_THAT(games.error().message, HasSubstr("only a server that runs as root"));
    }
  }
}

}  // namespace
}  // namespace teson
