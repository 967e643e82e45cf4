// What a program finds around it, what becomes of its output and memory, and how its end is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "adapters/launch_local/local_world_testing.h"
#include "attempt_dir/files.h"
#include "attempt_dir/log_index.h"

namespace teson {
namespace {

using testing::HasSubstr;

TEST(AttemptProgram, EachAttemptGetsAFreshDirectoryAndTheOldOneIsKept) {
  LocalWorld world;
  LaunchOrder order =
      world.shell("[ -z \"$(ls -A)\" ] || exit 9; touch out.tmp $TESON_CHECKPOINTS/$TESON_ATTEMPT; exit 1");
  EXPECT_EQ(world.run(order).exit_code, 1);
  LaunchOrder second = order;
  second.id.number = 2;
  EXPECT_EQ(world.run(second).exit_code, 1);  // 9 if it had found something
  for (const LaunchOrder& each : {order, second}) {
    EXPECT_TRUE(is_present(world.paths(each.id).file("work/out.tmp")));
    EXPECT_TRUE(is_present(world.paths(order.id).checkpoints + "/" + std::to_string(each.id.number)));
  }
}

TEST(AttemptProgram, SeesItsOwnEnvironmentAndDefaultsWhereItHasNone) {
  LocalWorld world;
  LaunchOrder order = world.shell(
      "echo $A,$LANG,$TESON_ATTEMPT,$TESON_ATTEMPT_ID,$PYTHONUNBUFFERED,[$CUDA_VISIBLE_DEVICES]; "
      "[ $PWD = $TESON_WORK ] && [ $TESON_WORK = $TESON_DIR/work ] && [ -d $TESON_CHECKPOINTS ] && echo places");
  order.environment = {
      {"A", "two words"}, {"LANG", "es_ES.UTF-8"}, {"CUDA_VISIBLE_DEVICES", "0"}, {"TESON_ATTEMPT_ID", "x"}};
  world.run(order);
  EXPECT_EQ(world.log_of(order.id), "two words,es_ES.UTF-8,1," + order.id.text() + ",1,[]\nplaces\n");
}

TEST(AttemptProgram, SeesTheGpusThatItWasAllocated) {
  LocalWorld world;
  LaunchOrder order = world.shell("echo $CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER");
  order.gpus = {1, 3};
  order.environment = {{"CUDA_VISIBLE_DEVICES", "0,1,2,3"}};
  world.run(order);
  EXPECT_EQ(world.log_of(order.id), "1,3 PCI_BUS_ID\n");
}

TEST(AttemptProgram, InheritsNoDescriptorSignalMaskOrTerminal) {
  LocalWorld world;
  const LaunchOrder order =
      world.order({"/usr/bin/python3", "-c",
                   "import os\n"
                   "print(sorted(int(n) for n in os.listdir('/proc/self/fd')))\n"  // 3 is the listing itself
                   "print(os.readlink('/proc/self/fd/0'), os.getsid(0) == os.getpid())\n"
                   "status = dict(line.split(':\\t') for line in open('/proc/self/status') if ':\\t' in line)\n"
                   "print(status['SigBlk'].strip())"});
  EXPECT_EQ(world.run(order).exit_code, 0);
  EXPECT_EQ(world.log_of(order.id), "[0, 1, 2, 3]\n/dev/null True\n0000000000000000\n");
}

TEST(AttemptProgram, IsLookedUpInTheJobsOwnPath) {
  LocalWorld world;
  LaunchOrder order = world.order({"greet"});
  const std::string folder = world.data() + "/bin";
  std::filesystem::create_directory(folder);
  std::filesystem::create_symlink("/bin/echo", folder + "/greet");
  order.command.push_back("hello");
  order.environment = {{"PATH", "/nonexistent:" + folder}};
  EXPECT_EQ(world.run(order).exit_code, 0);
  EXPECT_EQ(world.log_of(order.id), "hello\n");
}

TEST(AttemptProgram, NoShellEverReadsItsWords) {
  LocalWorld world;
  const LaunchOrder order = world.order({"/bin/echo", "$(touch x)", "; exit 1", "a\nb", "ñ"});
  EXPECT_EQ(world.run(order).exit_code, 0);
  EXPECT_EQ(world.log_of(order.id), "$(touch x) ; exit 1 a\nb ñ\n");
}

TEST(AttemptProgram, RunsInTheWorkingDirectoryThatWasAsked) {
  LocalWorld world;
  LaunchOrder order = world.shell("pwd");
  order.working_directory = "/usr/lib";
  world.run(order);
  EXPECT_EQ(world.log_of(order.id), "/usr/lib\n");
}

TEST(AttemptProgram, AnAbsentWorkingDirectoryIsAFailedLaunch) {
  LocalWorld world;
  LaunchOrder order = world.shell("exit 0");
  order.working_directory = "/nonexistent/folder";
  const AttemptEnd end = world.run(order);
  EXPECT_EQ(end.cause, EndCause::kLaunchFailed);
  EXPECT_EQ(end.exit_code, std::nullopt);
  EXPECT_EQ(end.status_reason, "Task failed to start");
  EXPECT_EQ(end.reason,
            "CannotStartContainerError: cannot enter the working directory '/nonexistent/folder': "
            "No such file or directory");
}

TEST(AttemptProgram, AnAbsentExecutableIsAFailedLaunch) {
  LocalWorld world;
  const AttemptEnd end = world.run(world.order({"no-such-program", "x"}));
  EXPECT_EQ(end.cause, EndCause::kLaunchFailed);
  EXPECT_EQ(end.exit_code, std::nullopt);
  EXPECT_EQ(end.reason, "CannotStartContainerError: cannot run 'no-such-program': No such file or directory");
}

TEST(AttemptProgram, AFileThatIsNoProgramIsAFailedLaunch) {
  LocalWorld world;
  const std::string file = world.data() + "/file";
  ASSERT_TRUE(write_file(file, "echo hello", Durability::kRenameOnly, 0644));
  EXPECT_EQ(world.run(world.order({file})).reason,
            "CannotStartContainerError: cannot run '" + file + "': Permission denied");
  EXPECT_EQ(world.run(world.order(std::vector<std::string>{})).reason,
            "CannotStartContainerError: the command is empty");
  EXPECT_THAT(world.run(world.order({"/bin/echo", std::string("a\0b", 3)})).reason, HasSubstr("NUL"));
}

TEST(AttemptProgram, TheLastLineIsKeptWithoutItsNewline) {
  LocalWorld world;
  const LaunchOrder order = world.shell("echo one; printf two; printf three >&2");
  world.run(order);
  EXPECT_EQ(world.log_of(order.id), "one\ntwothree");
}

TEST(AttemptProgram, FiftyThousandLinesThenExitAreAllThereAndDated) {
  LocalWorld world;
  const LaunchOrder order = world.order({"seq", "50000"});
  const AttemptEnd end = world.run(order);
  std::string expected;
  for (int i = 1; i <= 50000; ++i) expected += std::to_string(i) + "\n";
  EXPECT_EQ(world.log_of(order.id), expected);
  const auto index = LogIndex::read(world.paths(order.id).log_index());
  ASSERT_TRUE(index);
  ASSERT_FALSE(index->marks().empty());
  EXPECT_EQ(index->marks().back().offset, expected.size());
  ASSERT_TRUE(index->time_of(expected.size() - 1));
  EXPECT_LE(*index->time_of(expected.size() - 1), end.ended);
}

TEST(AttemptProgram, BurstsOfOutputAreDatedApart) {
  LocalWorld world;
  const LaunchOrder order = world.shell("echo first; sleep 0.5; echo second");
  world.run(order);
  const auto index = LogIndex::read(world.paths(order.id).log_index());
  ASSERT_TRUE(index && index->time_of(0) && index->time_of(6));
  const Duration apart = *index->time_of(6) - *index->time_of(0);
  EXPECT_GE(apart, Duration::millis(280));
  EXPECT_LE(apart, Duration::millis(900));
}

TEST(AttemptProgram, DeathByASignalIsToldAsSuch) {
  LocalWorld world;
  const AttemptEnd end = world.run(world.shell("kill -SEGV $$"));
  EXPECT_EQ(end.cause, EndCause::kExited);
  EXPECT_EQ(end.exit_code, 139);
  EXPECT_EQ(end.reason, "killed by signal 11 (SIGSEGV)");
}

// Memory: 64 MiB allowed. Where this user may not set limits, none is reported and the program has its way.
constexpr const char* kTake = "import sys; b = bytearray(int(sys.argv[1]) << 20); ";

LaunchOrder take(LocalWorld& world, const std::string& mib, const std::string& then) {
  LaunchOrder order = world.order({"/usr/bin/python3", "-c", kTake + then, mib});
  order.limits.memory_mib = 64;
  return order;
}

// An ordinary user may have no right to; root has it on every machine that tests run on.
bool can_limit_memory(LocalWorld& world) {
  LaunchOrder order = world.order({"/bin/true"});
  order.limits.memory_mib = 64;
  const bool can = world.run(order).usage.memory_limit_bytes == 64 << 20;
  EXPECT_TRUE(can || ::geteuid() != 0) << "root could not set a memory limit";
  return can;
}

TEST(AttemptMemory, MoreThanTheLimitIsOutOfMemory) {
  LocalWorld world;
  const AttemptEnd end = world.run(take(world, "100", ""));
  if (end.usage.memory_limit_bytes == 0) {
    ASSERT_NE(::geteuid(), 0U) << "root can set a limit on every machine that tests run on: none was set";
    EXPECT_EQ(end.exit_code, 0);
    EXPECT_GE(end.usage.peak_memory_bytes, 100 << 20);
    return;
  }
  EXPECT_EQ(end.cause, EndCause::kOutOfMemory);
  EXPECT_EQ(end.exit_code, 137);
  EXPECT_EQ(end.usage.memory_limit_bytes, 64 << 20);
  char host[65] = {};
  ASSERT_EQ(::gethostname(host, sizeof host - 1), 0);
  EXPECT_EQ(end.reason,
            std::string("OutOfMemoryError: Container killed due to memory usage (limit 64 MiB, peak 64 MiB, host ") +
                host + "); next time ask for 96 MiB");
}

TEST(AttemptMemory, AKillByHandIsNotOutOfMemory) {
  LocalWorld world;
  const AttemptEnd end = world.run(take(world, "40", "import os; os.kill(os.getpid(), 9)"));
  EXPECT_EQ(end.cause, EndCause::kExited);
  EXPECT_EQ(end.exit_code, 137);
  EXPECT_EQ(end.reason, "killed by signal 9 (SIGKILL)");
}

TEST(AttemptMemory, AFailureWithAHighPeakIsNotOutOfMemory) {
  LocalWorld world;
  const AttemptEnd end = world.run(take(world, "50", "sys.exit(1)"));
  EXPECT_EQ(end.cause, EndCause::kExited);
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_GE(end.usage.peak_memory_bytes, 50 << 20);
}

TEST(AttemptMemory, AProgramThatSurvivesItsChildsDeathKeepsItsOwnEnd) {
  LocalWorld world;
  LaunchOrder order = world.shell("/usr/bin/python3 -c 'b = bytearray(100 << 20)'; exit 0");
  order.limits.memory_mib = 64;
  const AttemptEnd survived = world.run(order);
  EXPECT_EQ(survived.cause, EndCause::kExited);
  EXPECT_EQ(survived.exit_code, 0);

  LaunchOrder passing_on = world.shell("/usr/bin/python3 -c 'b = bytearray(100 << 20)'; exit $?");
  passing_on.limits.memory_mib = 64;
  const AttemptEnd failed = world.run(passing_on);
  EXPECT_EQ(failed.cause, failed.usage.memory_limit_bytes > 0 ? EndCause::kOutOfMemory : EndCause::kExited);
}

// C40: the kill by hand comes after the kernel's, which the program took in its stride.
TEST(AttemptMemory, AKillByHandAfterAChildsDeathIsNotOutOfMemory) {
  LocalWorld world;
  if (!can_limit_memory(world)) return;
  LaunchOrder order = world.shell(
      "/usr/bin/python3 -c 'b = bytearray(100 << 20)'; while [ ! -e ../../../../go ]; do sleep 0.01; done; kill -9 $$");
  order.limits.memory_mib = 64;
  world.launch_and_wait_for_start(order);
  ASSERT_TRUE(world.run_until([&] {
    return text_of(world.paths(order.id).events()).find("the kernel has killed 1 of its processes for memory") !=
           std::string::npos;
  }));
  ASSERT_TRUE(write_file(world.data() + "/go", "", Durability::kRenameOnly));
  ASSERT_TRUE(world.run_until([&] { return world.end_of(order.id).has_value(); }));
  const AttemptEnd end = *world.end_of(order.id);
  EXPECT_EQ(end.cause, EndCause::kExited);
  EXPECT_EQ(end.exit_code, 137);
  EXPECT_THAT(end.reason, testing::StartsWith("killed by signal 9 (SIGKILL); the kernel had killed 1 of its processes "
                                              "for memory, the last one "));
}

TEST(AttemptMemory, OutOfMemoryDuringTheGraceIsToldButStaysAStop) {
  LocalWorld world;
  if (!can_limit_memory(world)) return;
  LaunchOrder order =
      world.order({"/usr/bin/python3", "-c",
                   "import signal, time\nsignal.signal(signal.SIGTERM, lambda *_: bytearray(100 << 20))\n"
                   "open('ready', 'w')\nwhile True: time.sleep(1)"});
  order.limits.memory_mib = 64;
  world.launch_and_wait_for_start(order);
  ASSERT_TRUE(world.run_until([&] { return is_present(world.paths(order.id).file("work/ready")); }));
  world.launcher().stop(order.id, Duration::seconds(60));
  ASSERT_TRUE(world.run_until([&] { return world.end_of(order.id).has_value(); }));
  EXPECT_EQ(world.end_of(order.id)->cause, EndCause::kStopped);
  EXPECT_EQ(world.end_of(order.id)->exit_code, 137);
  EXPECT_THAT(world.end_of(order.id)->reason, testing::StartsWith("OutOfMemoryError: "));
}

// The program died of its memory; only what it had started had to be killed.
TEST(AttemptMemory, OutOfMemoryDuringTheGraceIsToldBesideWhatHadToBeKilled) {
  LocalWorld world;
  if (!can_limit_memory(world)) return;
  LaunchOrder order =
      world.order({"/usr/bin/python3", "-c",
                   "import signal, subprocess, time\nsignal.signal(signal.SIGTERM, lambda *_: bytearray(100 << 20))\n"
                   "subprocess.Popen(['/bin/sh', '-c', 'trap \"\" TERM; touch ready; while :; do sleep 1; done'], "
                   "start_new_session=True)\nwhile True: time.sleep(1)"});
  order.limits.memory_mib = 64;
  world.launch_and_wait_for_start(order);
  ASSERT_TRUE(world.run_until([&] { return is_present(world.paths(order.id).file("work/ready")); }));
  world.launcher().stop(order.id, Duration::seconds(2));
  ASSERT_TRUE(world.run_until([&] { return world.end_of(order.id).has_value(); }));
  EXPECT_EQ(world.end_of(order.id)->cause, EndCause::kStopped);
  EXPECT_THAT(world.end_of(order.id)->reason, testing::StartsWith("OutOfMemoryError: "));
  EXPECT_THAT(world.end_of(order.id)->reason,
              testing::EndsWith("; some of its processes did not stop within 2 s of SIGTERM: killed"));
}

}  // namespace
}  // namespace teson
