// The process that forks agents may die at any moment, and leaves no trace in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <set>
#include <thread>

#include "adapters/launch_local/local_world_testing.h"
#include "adapters/launch_local/spawn.h"
#include "attempt_dir/leftovers.h"
#include "attempt_dir/nursery_link.h"

namespace teson {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string proc(pid_t pid, const std::string& file) { return "/proc/" + std::to_string(pid) + "/" + file; }

pid_t agent_of(const LocalWorld& world, const AttemptId& id) {
  const auto lock = open_lock(world.paths(id).file(kLockFile), true);
  const auto record = lock ? read_lock_record(lock->get()) : std::nullopt;
  return record ? record->pid : 0;
}

// 0: there is none. Of this test program, which has one launcher at a time.
pid_t nursery() {
  for (const pid_t pid : descendants_of(::getpid())) {
    // In this order: an agent that was forked just now has its own name before it has its own session.
    if (::getsid(pid) == pid && text_of(proc(pid, "comm")) == "teson-nursery\n") return pid;
  }
  return 0;
}

std::set<std::string> sockets_of(pid_t pid) {
  std::set<std::string> sockets;
  std::error_code ignored;
  for (const auto& fd : std::filesystem::directory_iterator(proc(pid, "fd"), ignored)) {
    const std::string name = std::filesystem::read_symlink(fd.path(), ignored);
    if (name.starts_with("socket:")) sockets.insert(name);
  }
  return sockets;
}

size_t descriptors_of(pid_t pid) {
  std::error_code ignored;
  const std::filesystem::directory_iterator entries(proc(pid, "fd"), ignored);
  return static_cast<size_t>(std::distance(begin(entries), end(entries)));
}

std::set<pid_t> holders_of(const std::string& file) {
  std::set<pid_t> holders;
  std::error_code ignored;
  for (const auto& process : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(process.path().filename().c_str());
    if (pid <= 0) continue;
    for (std::filesystem::directory_iterator fd(proc(pid, "fd"), ignored), end; fd != end; fd.increment(ignored)) {
      if (std::filesystem::read_symlink(fd->path(), ignored) == file) holders.insert(pid);
      if (ignored) break;
    }
  }
  return holders;
}

TEST(Nursery, AnAgentLooksAsIfItHadBeenSpawned) {
  LocalWorld world;
  const LaunchOrder order = world.order({"sleep", "3600"});
  world.launch_and_wait_for_start(order);
  const pid_t agent = agent_of(world, order.id);
  using namespace std::string_literals;
  const std::string directory = world.paths(order.id).directory;
  EXPECT_THAT(text_of(proc(agent, "cmdline")), StartsWith("teson\0agent\0"s + directory + "\0"s));
  EXPECT_THAT(text_of(proc(nursery(), "cmdline")), StartsWith("teson\0agent-nursery\0"s));
  EXPECT_EQ(text_of(proc(agent, "comm")), "teson-agent\n");
  EXPECT_EQ(::getsid(agent), agent);
  const std::string status = text_of(proc(agent, "status"));
  EXPECT_THAT(status, HasSubstr("PPid:\t" + std::to_string(::getpid())));
#ifndef TESON_SANITIZED  // which have handlers of their own
  EXPECT_THAT(status, HasSubstr("SigCgt:\t0000000000000000"));
#endif
  // But for the C library's own two, which nobody can set to their default.
  EXPECT_EQ(std::strtoull(status.c_str() + status.find("SigIgn:") + 8, nullptr, 16) & ~0x180000000ULL, 0U);
  for (const char* stream : {"fd/0", "fd/1", "fd/2"}) {
    EXPECT_EQ(std::filesystem::read_symlink(proc(agent, stream)), "/dev/null");
  }
}

TEST(Nursery, OnlyTheAgentHoldsItsLock) {
  LocalWorld world;
  const LaunchOrder first = world.order({"sleep", "3600"});
  const LaunchOrder second = world.order({"sleep", "3600"});
  world.launch_and_wait_for_start(first);
  world.launch_and_wait_for_start(second);
  for (const AttemptId& id : {first.id, second.id}) {
    EXPECT_EQ(holders_of(world.paths(id).file(kLockFile)), std::set<pid_t>{agent_of(world, id)});
  }
  // Nor does an agent keep the link: the launcher would not hear of the nursery's death.
  const std::set<std::string> link = sockets_of(nursery());
  ASSERT_EQ(link.size(), 1U);
  EXPECT_FALSE(sockets_of(agent_of(world, first.id)).contains(*link.begin()));
  world.kill_agent(first.id);
  ASSERT_TRUE(world.run_until([&] { return world.loss_of(first.id).has_value(); }));
  EXPECT_FALSE(is_locked(world.paths(first.id).file(kLockFile)));
  EXPECT_TRUE(is_locked(world.paths(second.id).file(kLockFile)));
}

TEST(Nursery, ItsDeathDisturbsNoAttemptAndItIsStartedAgain) {
  LocalWorld world;
  const LaunchOrder running = world.shell("while [ ! -e ../../../../go ]; do sleep 0.01; done; exit 6");
  world.launch_and_wait_for_start(running);
  const pid_t first = nursery();
  ASSERT_GT(first, 0);
  ASSERT_EQ(::kill(first, SIGKILL), 0);
  EXPECT_EQ(world.run(world.shell("exit 7")).exit_code, 7);
  EXPECT_EQ(world.run(world.shell("exit 8")).exit_code, 8);
  EXPECT_GT(nursery(), 0);
  EXPECT_NE(nursery(), first);
  ASSERT_TRUE(write_file(world.data() + "/go", "", Durability::kRenameOnly));
  ASSERT_TRUE(world.run_until([&] { return world.end_of(running.id).has_value(); }));
  EXPECT_EQ(world.end_of(running.id)->exit_code, 6);
}

// At whatever moment of a launch it dies: each attempt runs once.
TEST(Nursery, KilledOverAndOverItLosesNoAttemptAndStartsNoneTwice) {
  LocalWorld world;
  std::atomic<bool> over = false;
  std::atomic<int> kills = 0;
  std::thread killer([&] {
    for (int i = 0; !over; ++i) {
      if (const pid_t pid = nursery()) kills += ::kill(pid, SIGKILL) == 0;
      std::this_thread::sleep_for(std::chrono::microseconds(137 * (i % 16)));
    }
  });
  std::vector<LaunchOrder> orders;
  for (int i = 0; i < 60; ++i) {
    orders.push_back(world.shell("echo ran >> ran"));
    world.launcher().launch(orders.back());
  }
  bool all = true;
  for (const LaunchOrder& order : orders) {
    all = all && world.run_until([&] { return world.end_of(order.id) || world.loss_of(order.id); });
  }
  over = true;
  killer.join();
  ASSERT_TRUE(all);
  EXPECT_GT(kills, 0);
  RecordProperty("kills", kills);
  for (const LaunchOrder& order : orders) {
    ASSERT_TRUE(world.end_of(order.id)) << "lost";
    EXPECT_EQ(world.end_of(order.id)->exit_code, 0) << world.end_of(order.id)->reason;
    EXPECT_EQ(text_of(world.paths(order.id).file("work/ran")), "ran\n");
  }
}

// The launcher hears nothing in either case, and only the lock tells which it was.
TEST(Nursery, OneThatDiesBeforeOrAfterTheForkCostsNothing) {
  for (const char* fault : {"dies-before-fork", "dies-after-fork"}) {
    const ScopedVariable faulty("TESON_TEST_NURSERY", fault);
    LocalWorld world({.sweep = Duration::millis(50)});
    for (int i = 0; i < 3; ++i) {
      const LaunchOrder order = world.shell("echo ran >> ran; sleep 0.1; exit 5");
      EXPECT_EQ(world.run(order).exit_code, 5) << fault;
      EXPECT_EQ(text_of(world.paths(order.id).file("work/ran")), "ran\n") << fault;
    }
  }
}

TEST(Nursery, OneThatIsSuspendedIsReplaced) {
  LocalWorld world({.nursery_patience = Duration::seconds(2)});
  EXPECT_EQ(world.run(world.shell("exit 5")).exit_code, 5);
  const pid_t first = nursery();
  ASSERT_GT(first, 0) << "0 would be this program's own group";
  ASSERT_EQ(::kill(first, SIGSTOP), 0);
  EXPECT_EQ(world.run(world.shell("exit 6")).exit_code, 6);
  EXPECT_NE(::kill(first, 0), 0);
}

TEST(Nursery, DescriptorsDoNotGrow) {
  LocalWorld world;
  world.run(world.shell("exit 0"));
  const auto count = [&] { return std::pair(descriptors_of(::getpid()), descriptors_of(nursery())); };
  const auto before = count();
  for (int i = 0; i < 200; ++i) world.run(world.order({"/bin/true"}));
  // The launcher may still be closing those of the last one.
  EXPECT_TRUE(world.run_until([&] { return count() == before; })) << count().first << " were " << before.first;
}

// A nursery without a launcher: what happens when the server dies.
class NurseryWhoseServerDies : public testing::Test {
 protected:
  NurseryWhoseServerDies() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    link_.reset(ends[0]);
    const OwnedFd theirs(ends[1]);
    nursery_ = spawn_detached(TESON_TEST_AGENT, {"teson", "agent-nursery", "3"}, theirs.get()).value();
  }
  // Asks for an agent, and keeps nothing of it.
  void ask(const LaunchOrder& order) {
    const AttemptPaths paths = world_.paths(order.id);
    ASSERT_TRUE(make_directories(paths.file(kWorkDirectory)));
    ASSERT_TRUE(write_file(paths.file(kSpecFile), encode_order(order).value(), Durability::kRenameOnly));
    const auto lock = open_lock(paths.file(kLockFile), false);
    ASSERT_TRUE(lock && try_lock(*lock));
    ASSERT_TRUE(pass(link_.get(), paths.directory, lock->get()));
  }
  int wait_for_its_end() {
    int status = -1;
    EXPECT_EQ(::waitpid(nursery_.pid, &status, 0), nursery_.pid);
    nursery_.pid = 0;
    return status;
  }

  LocalWorld world_;
  OwnedFd link_;
  Spawned nursery_;
};

TEST_F(NurseryWhoseServerDies, WhatWasAskedIsDoneAndThenItEnds) {
  const LaunchOrder order = world_.order({"sleep", "3600"});
  ask(order);
  link_.reset();
  EXPECT_EQ(wait_for_its_end(), 0);
  // The next server finds the attempt running: its lock was held at every moment.
  EXPECT_TRUE(is_locked(world_.paths(order.id).file(kLockFile)));
  EXPECT_TRUE(std::holds_alternative<AttemptAlive>(world_.launcher().settle(order.id)));
  ASSERT_TRUE(world_.run_until([&] { return agent_of(world_, order.id) > 0; }));
  world_.launcher().stop(order.id, Duration::seconds(5));
  ASSERT_TRUE(world_.run_until([&] { return world_.end_of(order.id).has_value(); }));
  EXPECT_EQ(world_.end_of(order.id)->cause, EndCause::kStopped);
}

TEST_F(NurseryWhoseServerDies, ItsOwnDeathBeforeItHeardFreesTheLock) {
  ASSERT_EQ(::kill(nursery_.pid, SIGSTOP), 0);
  const LaunchOrder order = world_.order({"sleep", "3600"});
  ask(order);
  EXPECT_TRUE(is_locked(world_.paths(order.id).file(kLockFile)));
  link_.reset();
  ASSERT_EQ(::kill(nursery_.pid, SIGKILL), 0);
  EXPECT_TRUE(WIFSIGNALED(wait_for_its_end()));
  EXPECT_FALSE(is_locked(world_.paths(order.id).file(kLockFile)));
  EXPECT_TRUE(std::holds_alternative<AttemptUnknown>(world_.launcher().settle(order.id)));
}

}  // namespace
}  // namespace teson
