#include "adapters/journal_sqlite/data_directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "adapters/journal_sqlite/journal_sqlite_testing.h"

namespace teson {
namespace {

namespace fs = std::filesystem;
using testing_support::TemporaryDirectory;

constexpr uid_t kNobody = 65534;

// What the call says to a user without root's powers. The child tells its message through a pipe.
std::string message_for_nobody(const std::string& path) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "pipe failed";
  const pid_t child = fork();
  if (child == 0) {
    std::string text = "setuid failed";
    if (setgid(kNobody) == 0 && setuid(kNobody) == 0) {
      const auto directory = open_data_directory(path);
      text =
          directory ? "opened" : std::to_string(static_cast<int>(directory.error().kind)) + directory.error().message;
    }
    (void)!write(ends[1], text.data(), text.size());
    _exit(0);
  }
  close(ends[1]);
  std::string message;
  char buffer[512];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;) message.append(buffer, static_cast<size_t>(got));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return message;
}

TEST(DataDirectory, IsMadeWithItsParentsForItsOwnerOnly) {
  TemporaryDirectory temporary;
  const std::string path = temporary.path() + "/share/teson";
  const auto directory = open_data_directory(path);
  ASSERT_TRUE(directory.has_value()) << directory.error().message;
  EXPECT_EQ(directory->path(), path);
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
}

TEST(DataDirectory, ASecondProcessIsRefusedWithThePidOfTheFirst) {
  TemporaryDirectory temporary;
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t holder = fork();
  if (holder == 0) {
    const auto held = open_data_directory(temporary.path());
    (void)!write(ends[1], held ? "y" : "n", 1);
    pause();
    _exit(0);
  }
  char answer = 0;
  ASSERT_EQ(read(ends[0], &answer, 1), 1);
  ASSERT_EQ(answer, 'y');
  const auto second = open_data_directory(temporary.path());
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().kind, ErrorKind::kConflict);
  EXPECT_NE(second.error().message.find("in use by process " + std::to_string(holder) + ":"), std::string::npos)
      << second.error().message;
  EXPECT_NE(second.error().message.find("--data"), std::string::npos);
  // The lock dies with its holder, however that dies.
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
  EXPECT_TRUE(open_data_directory(temporary.path()).has_value());
  close(ends[0]);
  close(ends[1]);
}

// The server was killed while it was starting a process: that one has its descriptors until it becomes another program.
TEST(DataDirectory, TheLockOfADeadHolderIsWaitedFor) {
  TemporaryDirectory temporary;
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t holder = fork();
  if (holder == 0) {
    const auto held = open_data_directory(temporary.path());
    const pid_t parent = getpid();
    const pid_t started = fork();
    if (started == 0) {
      while (getppid() == parent) poll(nullptr, 0, 1);
      poll(nullptr, 0, 200);
      _exit(0);
    }
    (void)!write(ends[1], &started, sizeof started);
    pause();
    _exit(0);
  }
  pid_t started = 0;
  ASSERT_EQ(read(ends[0], &started, sizeof started), static_cast<ssize_t>(sizeof started));
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
  const auto next = open_data_directory(temporary.path());
  EXPECT_TRUE(next.has_value()) << next.error().message;
  kill(started, SIGKILL);
  close(ends[0]);
  close(ends[1]);
}

TEST(DataDirectory, TheLockIsNotInheritedByPrograms) {
  TemporaryDirectory temporary;
  pid_t child = 0;
  {
    const auto held = open_data_directory(temporary.path());
    ASSERT_TRUE(held.has_value());
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    child = fork();
    if (child == 0) {
      execlp("sleep", "sleep", "60", nullptr);
      _exit(127);
    }
    close(ends[1]);
    char byte;
    ASSERT_EQ(read(ends[0], &byte, 1), 0);  // the child's end closes as it becomes another program
    close(ends[0]);
  }
  EXPECT_TRUE(open_data_directory(temporary.path()).has_value());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(DataDirectory, APathThatIsAFileIsRefused) {
  TemporaryDirectory temporary;
  const std::string file = temporary.path() + "/file";
  std::ofstream(file) << "x";
  for (const std::string& path : {file, file + "/below"}) {
    const auto directory = open_data_directory(path);
    ASSERT_FALSE(directory.has_value());
    EXPECT_EQ(directory.error().kind, ErrorKind::kInvalid);
    EXPECT_NE(directory.error().message.find(path + " is not a directory"), std::string::npos)
        << directory.error().message;
  }
  EXPECT_EQ(open_data_directory("").error().kind, ErrorKind::kInvalid);
}

TEST(DataDirectory, WhatLiesInPlaceOfTheLockIsNamed) {
  TemporaryDirectory temporary;
  const std::string lock = temporary.path() + "/lock";
  const auto refused = [&](const std::string& kind) {
    const auto directory = open_data_directory(temporary.path());
    ASSERT_FALSE(directory.has_value()) << kind;
    EXPECT_EQ(directory.error().kind, ErrorKind::kInvalid);
    EXPECT_EQ(directory.error().message, lock + " is " + kind +
                                             ", but the server has its lock there, in a regular file: move it away, "
                                             "or choose another data directory with --data");
    fs::remove(lock);
  };
  fs::create_directory(lock);
  refused("a directory");
  ASSERT_EQ(mkfifo(lock.c_str(), 0600), 0);
  refused("a FIFO");
  fs::create_symlink(temporary.path() + "/other", lock);
  refused("a symbolic link");
  ASSERT_EQ(mknod(lock.c_str(), S_IFSOCK | 0600, 0), 0);
  refused("a socket");
  EXPECT_TRUE(open_data_directory(temporary.path()).has_value());
}

TEST(DataDirectory, OneThatCannotBeReadOrWrittenIsRefusedWithTheUser) {
  TemporaryDirectory temporary;
  ASSERT_EQ(chmod(temporary.path().c_str(), 0755), 0);
  const std::string denied = std::to_string(static_cast<int>(ErrorKind::kDenied));
  std::string message = message_for_nobody(temporary.path());
  EXPECT_TRUE(
      message.starts_with(denied + "the data directory " + temporary.path() + " cannot be written by user 65534"))
      << message;
  EXPECT_NE(message.find("--data"), std::string::npos);
  message = message_for_nobody(temporary.path() + "/new");
  EXPECT_TRUE(message.starts_with(denied)) << message;
  ASSERT_EQ(chmod(temporary.path().c_str(), 0000), 0);
  message = message_for_nobody(temporary.path());
  EXPECT_TRUE(message.starts_with(denied)) << message;
}

}  // namespace
}  // namespace teson
