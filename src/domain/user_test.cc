#include "domain/user.h"

#include <gtest/gtest.h>

namespace teson {
namespace {

TEST(Users, OnlyOwnersAndAdminsMayChange) {
  const Caller ana{"ana", Role::kUser}, bo{"bo", Role::kUser}, chief{"chief", Role::kAdmin};
  const Caller reader{"ana", Role::kReadOnly}, first_as_user{"default", Role::kUser};
  EXPECT_TRUE(may_change(ana, "ana"));
  EXPECT_FALSE(may_change(bo, "ana"));
  EXPECT_FALSE(may_change(ana, "an"));
  EXPECT_FALSE(may_change(ana, "anab"));
  EXPECT_TRUE(may_change(chief, "ana"));
  EXPECT_FALSE(may_change(reader, "ana")) << "what was theirs before they were made read-only";
  EXPECT_FALSE(may_change(ana, "")) << "the first user's";
  EXPECT_TRUE(may_change(first_as_user, ""));
}

TEST(Users, TheFirstUserIsKeptAsNothing) {
  EXPECT_EQ(kept_owner(Caller{}), "");
  EXPECT_EQ(kept_owner({"ana", Role::kUser}), "ana");
  EXPECT_EQ(owner_name(""), "default");
  EXPECT_EQ(owner_name("ana"), "ana");
}

TEST(Users, RolesHaveNamesForEver) {
  for (const auto& [role, name] :
       {std::pair(Role::kReadOnly, "read-only"), std::pair(Role::kUser, "user"), std::pair(Role::kAdmin, "admin")}) {
    EXPECT_EQ(role_name(role), name);
    EXPECT_EQ(parse_role(name), role);
  }
  EXPECT_EQ(parse_role("Admin"), std::nullopt);
  EXPECT_EQ(parse_role(""), std::nullopt);
}

TEST(Users, NamesAreSafeWhereverTheyAreWritten) {
  for (const char* good : {"a", "ana", "ana.maria-2_x", "7up"}) EXPECT_TRUE(is_user_name(good)) << good;
  for (const char* bad : {"", ".ana", "-ana", "an a", "ana\n", "a/b", "a]", "ñu", "a=b"}) {
    EXPECT_FALSE(is_user_name(bad)) << bad;
  }
  EXPECT_TRUE(is_user_name(std::string(64, 'a')));
  EXPECT_FALSE(is_user_name(std::string(65, 'a')));
}

}  // namespace
}  // namespace teson
