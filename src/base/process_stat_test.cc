#include "base/process_stat.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace teson {
namespace {

std::string line(const std::string& name, const std::string& state = "S") {
  return "42 (" + name + ") " + state + " 7 42 42 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 81234567 6500352 248 0 0\n";
}

TEST(ProcessStat, TheNameMayHoldAnything) {
  for (const char* name : {"sleep", "a b", ") R 1 (", "a\nb", ")", ""}) {
    const auto stat = parse_process_stat(line(name));
    ASSERT_TRUE(stat) << name;
    EXPECT_EQ(stat->state, 'S') << name;
    EXPECT_EQ(stat->parent, 7) << name;
    EXPECT_EQ(stat->start_ticks, 81234567u) << name;
  }
}

TEST(ProcessStat, WhatHasNotTheFormIsNothing) {
  EXPECT_FALSE(parse_process_stat(""));
  EXPECT_FALSE(parse_process_stat("42 (sleep"));
  EXPECT_FALSE(parse_process_stat("42 (sleep) S 7 42"));
  EXPECT_FALSE(parse_process_stat(line("sleep", "SS")));
  EXPECT_FALSE(parse_process_stat(line("sleep", "S x")));
}

TEST(ProcessStat, AChildIsSeenAliveDeadAndGone) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const auto alive = read_process_stat(child);
  ASSERT_TRUE(alive);
  EXPECT_NE(alive->state, 'Z');
  EXPECT_EQ(alive->parent, getpid());
  EXPECT_GE(alive->start_ticks, read_process_stat(getpid())->start_ticks);
  kill(child, SIGKILL);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  const auto dead = read_process_stat(child);
  ASSERT_TRUE(dead);
  EXPECT_EQ(dead->state, 'Z');
  EXPECT_EQ(dead->start_ticks, alive->start_ticks);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(read_process_stat(child));
}

}  // namespace
}  // namespace teson
