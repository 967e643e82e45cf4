#include "serve/users_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace teson {
namespace {

using testing::HasSubstr;

class UsersFileTest : public testing::Test {
 protected:
  UsersFileTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "teson-users-XXXXXX").string();
    data = mkdtemp(pattern.data());
  }
  ~UsersFileTest() override { std::filesystem::remove_all(data); }

  void write(const std::string& text) {
    std::ofstream(data + "/users.json") << text;
    chmod((data + "/users.json").c_str(), 0600);
  }
  std::string refusal() {
    const auto loaded = load_users(data, {});
    return loaded ? "loaded" : loaded.error().message;
  }

  std::string data;
};

TEST_F(UsersFileTest, WhatIsSavedIsLoadedByItsOwnerAlone) {
  const users::Users users = {
      {"ana", {"ana", Role::kReadOnly, Instant{5}, {{"AKIA1", "s1", Instant{6}}, {"AKIA2", "s2", Instant{7}}}, false}},
      {"bo", {"bo", Role::kAdmin, Instant{8}, {}, false}}};
  ASSERT_TRUE(save_users(data, users));
  struct stat info{};
  ASSERT_EQ(stat((data + "/users.json").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  const auto loaded = load_users(data, {});
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_EQ(loaded->size(), 2u);
  const users::User& ana = loaded->at("ana");
  EXPECT_EQ(ana.role, Role::kReadOnly);
  EXPECT_EQ(ana.created, Instant{5});
  ASSERT_EQ(ana.keys.size(), 2u);
  EXPECT_EQ(ana.keys[1].access_key_id, "AKIA2");
  EXPECT_EQ(ana.keys[1].secret_access_key, "s2");
  EXPECT_EQ(ana.keys[1].created, Instant{7});
  EXPECT_TRUE(loaded->at("bo").keys.empty()) << "revoked, and known";
}

TEST_F(UsersFileTest, WithoutAFileThereAreTheFirstUsers) {
  const auto loaded = load_users(data, {{"default", {"default", Role::kAdmin, {}, {}, true}}});
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->size(), 1u);
}

TEST_F(UsersFileTest, AccountsComeBackForBothKindsOfUsers) {
  const users::User first{"default", Role::kAdmin, {}, {}, true, "games"};
  const users::User ana{"ana", Role::kUser, {}, {}, false, "ana-unix"};
  ASSERT_TRUE(save_users(data, {{"default", first}, {"ana", ana}}));
  const auto back = load_users(data, {{"default", {"default", Role::kAdmin, {}, {}, true, {}}}});
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_EQ(back->size(), 2u);
  EXPECT_EQ(back->at("default").account, "games");
  EXPECT_TRUE(back->at("default").of_credentials_file);
  EXPECT_EQ(back->at("ana").account, "ana-unix");
  // Its profile is gone from the credentials file.
  EXPECT_EQ(load_users(data, {})->size(), 1u);
}

TEST_F(UsersFileTest, OnlyAccountsMakeTheFileOneThatOlderProgramsRefuse) {
  const auto text = [&] {
    std::ifstream file(data + "/users.json");
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  ASSERT_TRUE(save_users(data, {{"ana", {"ana", Role::kUser, {}, {}, false, {}}}}));
  EXPECT_THAT(text(), HasSubstr("\"format\": 1"));
  ASSERT_TRUE(save_users(data, {{"ana", {"ana", Role::kUser, {}, {}, false, "games"}}}));
  EXPECT_THAT(text(), HasSubstr("\"format\": 2"));
}

TEST_F(UsersFileTest, DamageIsRefusedAndNamed) {
  write("{");
  EXPECT_THAT(refusal(), HasSubstr(data + "/users.json: "));
  write(R"({"format":3,"users":[]})");
  EXPECT_THAT(refusal(), HasSubstr("a newer teson has written it"));
  write(R"({"format":1,"users":[{"name":"a b","role":"user"}]})");
  EXPECT_THAT(refusal(), HasSubstr("'a b' is no user's name"));
  write(R"({"format":1,"users":[{"name":"ana","role":"king"}]})");
  EXPECT_THAT(refusal(), HasSubstr("users[0].role"));
  write(R"({"format":1,"users":[{"name":"ana","role":"user"},{"name":"ana","role":"admin"}]})");
  EXPECT_THAT(refusal(), HasSubstr("user 'ana' is there already"));
}

TEST_F(UsersFileTest, AFileThatOthersMayReadIsRefused) {
  write(R"({"format":1,"users":[]})");
  chmod((data + "/users.json").c_str(), 0640);
  EXPECT_THAT(refusal(), HasSubstr("chmod 600"));
}

}  // namespace
}  // namespace teson
