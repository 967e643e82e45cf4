#include "attempt_dir/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <future>

#include "attempt_dir/lock.h"
#include "attempt_dir/paths.h"

namespace teson {
namespace {

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "teson-files-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
};

TEST_F(Files, AFileIsReplacedWholeAndNoDraftIsLeft) {
  const std::string path = folder_ + "/spec.json";
  ASSERT_TRUE(write_file(path, std::string(100'000, 'a'), Durability::kSynced));
  ASSERT_TRUE(write_file(path, "short", Durability::kRenameOnly));
  EXPECT_EQ(read_file(path).value(), "short");
  EXPECT_FALSE(exists(path + ".new"));
}

TEST_F(Files, SecretsAreReadableByTheirOwnerOnly) {
  ASSERT_TRUE(write_file(folder_ + "/spec.json", "x", Durability::kRenameOnly));
  struct stat info;
  ASSERT_EQ(::stat((folder_ + "/spec.json").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(Files, AFailedWriteLeavesTheOldVersion) {
  const std::string path = folder_ + "/kept";
  ASSERT_TRUE(write_file(path, "old", Durability::kRenameOnly));
  ASSERT_TRUE(make_directories(path + ".new"));  // in the draft's way
  const Status status = write_file(path, "new", Durability::kRenameOnly);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("kept.new"), std::string::npos);
  EXPECT_EQ(read_file(path).value(), "old");
}

TEST_F(Files, AbsentAndOversizedFilesAreDifferentErrors) {
  EXPECT_EQ(read_file(folder_ + "/none").error().kind, ErrorKind::kNotFound);
  ASSERT_TRUE(write_file(folder_ + "/big", "12345", Durability::kRenameOnly));
  EXPECT_EQ(read_file(folder_ + "/big", 4).error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(read_file(folder_ + "/big", 5).value(), "12345");
}

// A reader that waited for the FIFO's other end would wait for ever: if it does, the end given here lets it go, too
// late.
TEST_F(Files, OnlyRegularFilesAreReadAndNobodyIsWaitedFor) {
  const std::string fifo = folder_ + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  auto reading = std::async(std::launch::async, [&] { return read_file(fifo); });
  const bool in_time = reading.wait_for(std::chrono::seconds(5)) == std::future_status::ready;
  if (!in_time) ::close(::open(fifo.c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_TRUE(in_time) << "waits for somebody to open the other end";
  EXPECT_EQ(reading.get().error().message, fifo + " is not a regular file");
  ASSERT_TRUE(write_file(folder_ + "/target", "secret", Durability::kRenameOnly));
  ASSERT_EQ(::symlink((folder_ + "/target").c_str(), (folder_ + "/link").c_str()), 0);
  EXPECT_FALSE(read_file(folder_ + "/link"));
}

TEST_F(Files, DirectoriesAreMadeWithTheirParents) {
  EXPECT_TRUE(make_directories(folder_ + "/a/b/c"));
  EXPECT_TRUE(make_directories(folder_ + "/a/b/c"));
  ASSERT_TRUE(write_file(folder_ + "/file", "", Durability::kRenameOnly));
  EXPECT_FALSE(make_directories(folder_ + "/file/x"));
  EXPECT_FALSE(make_directories(folder_ + "/file"));
}

TEST_F(Files, ALockIsHeldUntilItsDescriptorIsGone) {
  const std::string path = folder_ + "/lock";
  EXPECT_EQ(open_lock(path, true).error().kind, ErrorKind::kNotFound);
  auto first = open_lock(path, false);
  auto second = open_lock(path, true);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(try_lock(*first));
  EXPECT_FALSE(try_lock(*second));
  first->reset();
  EXPECT_TRUE(try_lock(*second));
}

TEST_F(Files, AShorterLockRecordReplacesALongerOne) {
  const auto lock = open_lock(folder_ + "/lock", false);
  ASSERT_TRUE(lock);
  EXPECT_EQ(read_lock_record(lock->get()), std::nullopt);
  LockRecord record{.pid = 7, .start_ticks = 8, .boot_id = "boot", .cgroups = {std::string(500, 'c')}};
  ASSERT_TRUE(write_lock_record(lock->get(), record));
  record.cgroups.clear();
  ASSERT_TRUE(write_lock_record(lock->get(), record));
  EXPECT_EQ(read_lock_record(lock->get()), record);
}

TEST_F(Files, AnAgentIsRecognisedByMoreThanItsNumber) {
  LockRecord self{.pid = ::getpid(),
                  .start_ticks = process_start_ticks(::getpid()).value(),
                  .boot_id = current_boot_id(),
                  .cgroups = {}};
  EXPECT_TRUE(open_agent(self));
  LockRecord reused = self;
  reused.start_ticks -= 1;
  EXPECT_FALSE(open_agent(reused));
  LockRecord rebooted = self;
  rebooted.boot_id = "other";
  EXPECT_FALSE(open_agent(rebooted));
}

TEST(Clip, NeverCutsInsideACharacter) {
  EXPECT_EQ(clip("abc", 3), "abc");
  EXPECT_EQ(clip("abcdefgh", 6), "abc...");
  EXPECT_EQ(clip("ab\xC3\xB1"
                 "defgh",
                 6),
            "ab...");  // ñ would be cut in half
}

TEST(Paths, AreThoseOfTheContract) {
  const AttemptId id{*JobId::parse("0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"), 2};
  const AttemptPaths paths = attempt_paths("/data", id);
  EXPECT_EQ(paths.log(), "/data/attempts/0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d/2/stdout.log");
  EXPECT_EQ(paths.checkpoints, "/data/attempts/0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d/checkpoints");
  EXPECT_EQ(attempt_marker(id), "TESON_ATTEMPT_ID=0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d/2");
}

}  // namespace
}  // namespace teson
