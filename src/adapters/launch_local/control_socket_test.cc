#include "adapters/launch_local/control_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace teson {
namespace {

TEST(AttemptIdText, OnlyWholeIdsAreTaken) {
  const std::string job = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d";
  EXPECT_EQ(parse_attempt_id(job + "/12"), (AttemptId{*JobId::parse(job), 12}));
  for (const std::string& bad : {job, job + "/", job + "/0", job + "/-1", job + "/1x", std::string("x/1"),
                                 job + "/99999999999", std::string(), std::string("/")}) {
    EXPECT_EQ(parse_attempt_id(bad), std::nullopt) << bad;
  }
}

TEST(ControlSocket, ALongDataDirectoryIsNoObstacle) {
  std::string root = "/tmp/teson-socket-XXXXXX";
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  const std::string deep = root + "/" + std::string(200, 'd');
  ASSERT_EQ(::mkdir(deep.c_str(), 0755), 0);
  {
    const auto first = open_control_socket(deep);
    ASSERT_TRUE(first) << first.error().message;
    const auto second = open_control_socket(deep);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, ErrorKind::kConflict);
  }
  EXPECT_TRUE(open_control_socket(deep)) << "what a dead server left is replaced";
  std::filesystem::remove_all(root);
}

// The launcher was killed while it was starting a process: that one has its descriptors until it becomes another
// program.
TEST(ControlSocket, TheSocketOfADeadLauncherIsWaitedFor) {
  std::string data = "/tmp/teson-socket-XXXXXX";
  ASSERT_NE(::mkdtemp(data.data()), nullptr);
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto held = open_control_socket(data);
    (void)!::write(ends[1], held ? "y" : "n", 1);
    ::poll(nullptr, 0, 300);
    ::_exit(0);
  }
  char answer = 0;
  ASSERT_EQ(::read(ends[0], &answer, 1), 1);
  ASSERT_EQ(answer, 'y');
  const auto next = open_control_socket(data);
  EXPECT_TRUE(next.has_value()) << next.error().message;
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  std::filesystem::remove_all(data);
}

TEST(ControlSocket, WhatIsNoSocketIsNamedAndLeftAlone) {
  std::string root = "/tmp/teson-socket-XXXXXX";
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  const std::string path = root + "/control.sock";
  const auto refused = [&](const std::string& kind) {
    const auto socket = open_control_socket(root);
    ASSERT_FALSE(socket) << kind;
    EXPECT_EQ(socket.error().kind, ErrorKind::kInvalid);
    EXPECT_TRUE(socket.error().message.starts_with(path + " is " + kind + ", but the server has its control socket"))
        << socket.error().message;
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::symlink_status(path))) << kind;
    std::filesystem::remove(path);
  };
  std::filesystem::create_directory(path);
  refused("a directory");
  std::ofstream(path) << "somebody's";
  refused("a regular file");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  refused("a FIFO");
  std::filesystem::create_symlink("/nowhere", path);
  refused("a symbolic link");
  EXPECT_TRUE(open_control_socket(root));
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace teson
