#include "api/users/user_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace teson::users {
namespace {

using testing::HasSubstr;

constexpr Instant kNow{1'000'000};

class UserRegistryTest : public testing::Test {
 protected:
  static Users first() {
    return {{"default", {"default", Role::kAdmin, {}, {{"AKIAFIRST", "first-secret", {}}}, true}}};
  }
  Key add(const std::string& name, Role role = Role::kUser) {
    const auto key = registry.add(name, role, kNow);
    EXPECT_TRUE(key) << key.error().message;
    return key.value_or(Key{});
  }
  std::string who(const std::string& key) {
    const auto holder = registry.find(key);
    return holder ? holder->caller.name + "/" + std::string(role_name(holder->caller.role)) : "nobody";
  }

  bool disk_full = false;
  Users saved;
  int saves = 0;
  UserRegistry registry{first(), [this](const Users& users) -> Status {
                          if (disk_full) return fail(ErrorKind::kUnavailable, "disk full");
                          saved = users;
                          ++saves;
                          return {};
                        }};
};

TEST_F(UserRegistryTest, AnAccountIsOfAnyUserAndOutlivesRevocation) {
  add("ana");
  EXPECT_EQ(registry.account_of("ana"), "");
  EXPECT_EQ(registry.set_account("ana", "ana-unix")->account, "ana-unix");
  ASSERT_TRUE(registry.set_account("default", "games"));
  EXPECT_EQ(saved.at("default").account, "games");
  ASSERT_TRUE(registry.revoke("ana"));
  EXPECT_EQ(registry.account_of("ana"), "ana-unix");  // of jobs that are queued
  EXPECT_EQ(registry.account_of("default"), "games");
  EXPECT_EQ(registry.account_of("nobody"), "");
  EXPECT_FALSE(registry.set_account("nobody", "games"));
  disk_full = true;
  EXPECT_FALSE(registry.set_account("default", ""));
  EXPECT_EQ(registry.account_of("default"), "games");
}

TEST_F(UserRegistryTest, AKeySaysWhoseItIsUntilItIsRevoked) {
  const Key ana = add("ana"), bo = add("bo", Role::kReadOnly);
  EXPECT_EQ(who(ana.access_key_id), "ana/user");
  EXPECT_EQ(who(bo.access_key_id), "bo/read-only");
  EXPECT_EQ(who("AKIAFIRST"), "default/admin");
  EXPECT_EQ(registry.find(ana.access_key_id)->secret_access_key, ana.secret_access_key);
  ASSERT_TRUE(registry.revoke("ana"));
  EXPECT_EQ(who(ana.access_key_id), "nobody");
  EXPECT_EQ(who(bo.access_key_id), "bo/read-only");
  ASSERT_TRUE(registry.revoke(bo.access_key_id));
  EXPECT_EQ(who(bo.access_key_id), "nobody");
}

TEST_F(UserRegistryTest, WhatIsSavedTellsTheFirstApartAndNothingIsShownWithASecret) {
  const Key ana = add("ana");
  EXPECT_TRUE(saved.at("default").of_credentials_file);
  EXPECT_FALSE(saved.at("ana").of_credentials_file);
  EXPECT_EQ(saved.at("ana").keys.at(0).secret_access_key, ana.secret_access_key);
  for (const auto& [name, user] : registry.list()) {
    for (const Key& key : user.keys) EXPECT_EQ(key.secret_access_key, "") << name;
  }
  EXPECT_EQ(registry.set_role("ana", Role::kAdmin)->keys.at(0).secret_access_key, "");
}

TEST_F(UserRegistryTest, WhatCannotBeSavedChangesNothing) {
  const Key ana = add("ana");
  disk_full = true;
  EXPECT_EQ(registry.add("bo", Role::kUser, kNow).error().message, "disk full");
  EXPECT_FALSE(registry.revoke("ana"));
  EXPECT_FALSE(registry.set_role("ana", Role::kAdmin));
  EXPECT_FALSE(registry.rotate("ana", kNow));
  EXPECT_EQ(who(ana.access_key_id), "ana/user");
  EXPECT_EQ(registry.list().size(), 2u);
}

TEST_F(UserRegistryTest, RolesChangeAndKeysAreReplacedAtOnce) {
  const Key old = add("ana");
  ASSERT_TRUE(registry.set_role("ana", Role::kReadOnly));
  EXPECT_EQ(who(old.access_key_id), "ana/read-only");
  const auto fresh = registry.rotate("ana", kNow);
  ASSERT_TRUE(fresh);
  EXPECT_EQ(who(old.access_key_id), "nobody");
  EXPECT_EQ(who(fresh->access_key_id), "ana/read-only");
  EXPECT_NE(fresh->secret_access_key, old.secret_access_key);
}

TEST_F(UserRegistryTest, ARevokedUserMayComeBackAndIsTheSame) {
  const Key old = add("ana", Role::kAdmin);
  EXPECT_THAT(registry.add("ana", Role::kUser, kNow).error().message, HasSubstr("teson user rotate ana"));
  ASSERT_TRUE(registry.revoke("ana"));
  EXPECT_THAT(registry.rotate("ana", kNow).error().message, HasSubstr("teson user add ana"));
  const Key fresh = add("ana");
  EXPECT_EQ(who(fresh.access_key_id), "ana/user");
  EXPECT_EQ(who(old.access_key_id), "nobody");
}

TEST_F(UserRegistryTest, TheFirstUserIsTheCredentialsFiles) {
  const auto conflicts = [](const auto& result) { return !result && result.error().kind == ErrorKind::kConflict; };
  EXPECT_TRUE(conflicts(registry.revoke("default")));
  EXPECT_TRUE(conflicts(registry.revoke("AKIAFIRST")));
  EXPECT_TRUE(conflicts(registry.set_role("default", Role::kUser)));
  EXPECT_TRUE(conflicts(registry.rotate("default", kNow)));
  EXPECT_TRUE(conflicts(registry.add("default", Role::kUser, kNow)));
  EXPECT_EQ(saves, 0);
  EXPECT_EQ(who("AKIAFIRST"), "default/admin");
}

TEST_F(UserRegistryTest, NamesAreCheckedAndUnknownOnesNamed) {
  EXPECT_THAT(registry.add("a b", Role::kUser, kNow).error().message, HasSubstr("'a b' cannot be a user's name"));
  EXPECT_THAT(registry.revoke("nobody").error().message, HasSubstr("there is no user 'nobody'"));
}

TEST(NewKey, HasAwssAlphabetsAndNeverRepeats) {
  std::set<std::string> ids, secrets;
  for (int i = 0; i < 100; ++i) {
    const auto key = new_key(kNow);
    ASSERT_TRUE(key);
    EXPECT_THAT(key->access_key_id, testing::MatchesRegex("AKIA[A-Z2-7]{16}"));
    EXPECT_EQ(key->secret_access_key.size(), 40u);
    ids.insert(key->access_key_id);
    secrets.insert(key->secret_access_key);
  }
  EXPECT_EQ(ids.size(), 100u);
  EXPECT_EQ(secrets.size(), 100u);
}

TEST(CheckUsers, TwoMayNotHaveOneKey) {
  Users users = {{"a", {"a", Role::kUser, {}, {{"K", "s", {}}}, false}}};
  EXPECT_TRUE(check_users(users));
  users["b"] = {"b", Role::kUser, {}, {{"K", "t", {}}}, false};
  EXPECT_THAT(check_users(users).error().message, HasSubstr("two users have the access key K"));
}

}  // namespace
}  // namespace teson::users
