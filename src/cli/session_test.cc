#include "cli/session.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace teson::cli {
namespace {

constexpr const char* kKeys = "[default]\naws_access_key_id = FILEKEY\naws_secret_access_key = file-secret\n";

class SessionTest : public testing::Test {
 protected:
  SessionTest() {
    char pattern[] = "/tmp/teson-session-XXXXXX";
    data_ = ::mkdtemp(pattern);
    for (const char* name :
         {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_DEFAULT_REGION", "TESON_DATA"}) {
      ::unsetenv(name);
    }
  }
  ~SessionTest() override { std::filesystem::remove_all(data_); }

  void write(const std::string& name, const std::string& text) { std::ofstream(data_ + "/" + name) << text; }
  Outcome<Session> open(const std::string& endpoint = "") {
    return open_session({.data = data_, .endpoint = endpoint, .region = "", .output = ""});
  }

  std::string data_;
};

TEST_F(SessionTest, FindsTheServerOfADataDirectory) {
  write("server.json", R"({"endpoint": "http://127.0.0.1:8790/", "pid": 17, "region": "eu-west-1"})");
  write("credentials", kKeys);
  const auto session = open();
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ(session->endpoint, "http://127.0.0.1:8790");
  EXPECT_EQ(session->keys.access_key_id, "FILEKEY");
  EXPECT_EQ(session->keys.secret_access_key, "file-secret");
  EXPECT_EQ(session->region, "eu-west-1");
  EXPECT_TRUE(session->by_data_directory);
  EXPECT_EQ(read_server_file(data_)->pid, 17);
}

TEST_F(SessionTest, WithoutAServerSaysHowToStartOne) {
  const auto session = open();
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().message, "no server runs on " + data_ + ": start one with 'teson serve --data " + data_ +
                                         "', or name one with --endpoint URL");
}

TEST_F(SessionTest, HalfAServerFileIsNone) {
  write("server.json", R"({"endpoint": "http://127.0)");
  EXPECT_FALSE(read_server_file(data_));
  write("server.json", R"({"endpoint": 5})");
  EXPECT_FALSE(read_server_file(data_));
}

TEST_F(SessionTest, AnEndpointTakesItsKeysFromTheEnvironmentFirst) {
  write("credentials", kKeys);
  EXPECT_EQ(open("http://h:1")->keys.access_key_id, "FILEKEY");
  ::setenv("AWS_ACCESS_KEY_ID", "ENVKEY", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "env-secret", 1);
  const auto session = open("http://h:1");
  EXPECT_EQ(session->keys.access_key_id, "ENVKEY");
  EXPECT_EQ(session->keys.secret_access_key, "env-secret");
  EXPECT_FALSE(session->by_data_directory);
  EXPECT_EQ(session->region, "us-east-1");
  // The data directory's own server knows no other keys than its own.
  write("server.json", R"({"endpoint": "http://127.0.0.1:8790"})");
  EXPECT_EQ(open()->keys.access_key_id, "FILEKEY");
}

TEST_F(SessionTest, MissingOrBrokenKeysAreAConfigurationFailureWithoutASecret) {
  EXPECT_EQ(open("http://h:1").error().kind, FailureKind::kConfiguration);
  write("credentials", "[default]\naws_secret_access_key = hidden-value\n");
  const auto session = open("http://h:1");
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().kind, FailureKind::kConfiguration);
  EXPECT_EQ(session.error().message.find("hidden-value"), std::string::npos);
  EXPECT_NE(session.error().message.find(data_ + "/credentials"), std::string::npos);
}

TEST_F(SessionTest, AFifoOrDirectoryInPlaceOfAFileIsNotWaitedFor) {
  write("server.json", R"({"endpoint": "http://127.0.0.1:8790"})");
  ASSERT_EQ(::mkfifo((data_ + "/credentials").c_str(), 0600), 0);
  EXPECT_EQ(open().error().message,
            "no keys: " + data_ + "/credentials is a FIFO, not a regular file; 'teson serve' makes them");
  std::filesystem::remove(data_ + "/server.json");
  ASSERT_EQ(::mkfifo((data_ + "/server.json").c_str(), 0600), 0);
  EXPECT_FALSE(read_server_file(data_));
  EXPECT_EQ(read_text_file(data_).error().message, data_ + " is a directory, not a regular file");
}

TEST_F(SessionTest, RegionComesFromFlagThenServerThenEnvironment) {
  write("credentials", kKeys);
  write("server.json", R"({"endpoint": "http://127.0.0.1:8790"})");
  EXPECT_EQ(open()->region, "us-east-1");
  ::setenv("AWS_DEFAULT_REGION", "sa-east-1", 1);
  EXPECT_EQ(open()->region, "sa-east-1");
  write("server.json", R"({"endpoint": "http://127.0.0.1:8790", "region": "eu-west-1"})");
  EXPECT_EQ(open()->region, "eu-west-1");
  EXPECT_EQ(open_session({.data = data_, .endpoint = "", .region = "ap-south-1", .output = ""})->region, "ap-south-1");
}

TEST_F(SessionTest, DataDirectoryIsFlagThenVariableThenHome) {
  const std::string home = environment_value("HOME");
  ::setenv("HOME", "/home/ana", 1);
  EXPECT_EQ(data_directory({}).value(), "/home/ana/.local/share/teson");
  ::setenv("TESON_DATA", "/srv/teson/", 1);
  EXPECT_EQ(data_directory({}).value(), "/srv/teson");
  EXPECT_EQ(data_directory({.data = "/a/../b", .endpoint = "", .region = "", .output = ""}).value(), "/b");
  EXPECT_EQ(data_directory({.data = "rel", .endpoint = "", .region = "", .output = ""}).value(),
            std::filesystem::current_path().string() + "/rel");
  ::setenv("HOME", home.c_str(), 1);
}

TEST(Endpoint, IsSchemeAndAuthorityAlone) {
  EXPECT_EQ(normalised_endpoint("http://127.0.0.1:8790//").value(), "http://127.0.0.1:8790");
  EXPECT_EQ(normalised_endpoint("https://teson.lab").value(), "https://teson.lab");
  for (const char* text :
       {"", "127.0.0.1:8790", "ftp://x", "http://", "http:///", "http://x/path", "http://x?y", "http://x y"}) {
    EXPECT_FALSE(normalised_endpoint(text)) << text;
  }
  EXPECT_EQ(normalised_endpoint("lab:1").error().message,
            "'lab:1' is not an endpoint; write it like http://127.0.0.1:8790");
}

}  // namespace
}  // namespace teson::cli
