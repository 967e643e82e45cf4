#include "serve/audit_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace teson {
namespace {

using testing::HasSubstr;

constexpr Instant kNoon = Instant::from_millis(1'796'040'000'123);  // 2026-11-30T12:00:00.123Z

http::AuditRecord record_of(const std::string& resource) {
  return {kNoon, "ana", "AKIA1", "batch:SubmitJob", resource, "ok", "127.0.0.1:5"};
}

class AuditLogTest : public testing::Test {
 protected:
  AuditLogTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "teson-audit-XXXXXX").string();
    directory = mkdtemp(pattern.data());
    path = directory + "/audit.log";
  }
  ~AuditLogTest() override { std::filesystem::remove_all(directory); }

  std::vector<std::string> lines(const std::string& suffix = "") const {
    std::ifstream file(path + suffix);
    std::vector<std::string> out;
    for (std::string line; std::getline(file, line);) out.push_back(line);
    return out;
  }

  std::string directory, path;
};

TEST_F(AuditLogTest, ALineIsAJsonObjectWhateverIsInIt) {
  EXPECT_EQ(audit_line(record_of("job/1")),
            "{\"time\":\"2026-11-30T12:00:00.123Z\",\"user\":\"ana\",\"key\":\"AKIA1\",\"action\":\"batch:SubmitJob\","
            "\"resource\":\"job/1\",\"outcome\":\"ok\",\"source\":\"127.0.0.1:5\"}\n");
  EXPECT_THAT(audit_line(record_of("a\"b\\\n\xFF")), HasSubstr("\"resource\":\"a\\\"b\\\\\\n\xEF\xBF\xBD\""));
}

TEST_F(AuditLogTest, EveryRecordIsThereWhenItIsClosedAndAfterTheNextStart) {
  {
    AuditLog log(path);
    for (int i = 0; i < 1000; ++i) log.record(record_of(std::to_string(i)));
  }
  {
    AuditLog log(path);
    log.record(record_of("last"));
  }
  const auto got = lines();
  ASSERT_EQ(got.size(), 1001u);
  EXPECT_THAT(got[999], HasSubstr("\"999\""));
  EXPECT_THAT(got[1000], HasSubstr("\"last\""));
  struct stat info{};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
}

TEST_F(AuditLogTest, ItIsRotatedByItsSizeAndBounded) {
  const int64_t line = std::ssize(audit_line(record_of("00")));
  for (int i = 10; i < 20; ++i) {  // a log of its own each, so that each is written alone
    AuditLog log(path, {.max_bytes = 2 * line, .kept = 2});
    log.record(record_of(std::to_string(i)));
  }
  ASSERT_EQ(lines().size(), 2u);
  EXPECT_THAT(lines()[1], HasSubstr("\"19\""));
  ASSERT_EQ(lines(".1").size(), 2u);
  EXPECT_THAT(lines(".1")[0], HasSubstr("\"16\""));
  EXPECT_THAT(lines(".2")[0], HasSubstr("\"14\""));
  EXPECT_FALSE(std::filesystem::exists(path + ".3"));
}

TEST_F(AuditLogTest, AHalfLineOfACrashStaysAlone) {
  std::ofstream(path) << "{\"time\":\"2026";
  {
    AuditLog log(path);
    log.record(record_of("next"));
  }
  ASSERT_EQ(lines().size(), 2u);
  EXPECT_EQ(lines()[0], "{\"time\":\"2026");
  EXPECT_THAT(lines()[1], HasSubstr("\"next\""));
}

TEST_F(AuditLogTest, StrangersCannotFillIt) {
  {
    AuditLog log(path);
    http::AuditRecord stranger = record_of("x");
    stranger.user.clear();
    for (int i = 0; i < 1000; ++i) log.record(stranger);
    log.record(record_of("known"));
  }
  const auto got = lines();
  const auto known = std::ranges::count_if(got, [](const auto& text) { return text.find("\"known\"") != text.npos; });
  EXPECT_EQ(known, 1);
  EXPECT_LE(got.size(), 24u) << "20 strangers, a count or two of the others, one known";
  EXPECT_THAT(testing::PrintToString(got), HasSubstr("more requests with refused signatures are not listed"));
}

TEST_F(AuditLogTest, WhereItCannotBeWrittenServiceGoesOnAndTheLossIsCounted) {
  std::filesystem::create_directory(path);
  AuditLog* log = new AuditLog(path);
  log->record(record_of("lost"));
  delete log;  // returns, though nothing could be written
  std::filesystem::remove(path);
  {
    AuditLog again(path);
    again.record(record_of("kept"));
  }
  EXPECT_EQ(lines().size(), 1u);
}

}  // namespace
}  // namespace teson
