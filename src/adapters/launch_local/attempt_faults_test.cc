// Agents and launchers that die, disks that are full, hosts that reboot: nothing is lost, nothing starts twice.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "adapters/launch_local/local_world_testing.h"
#include "adapters/launch_local/spawn.h"
#include "attempt_dir/codec.h"
#include "attempt_dir/files.h"
#include "attempt_dir/lock.h"

namespace teson {
namespace {

using testing::HasSubstr;

LockRecord record_of(const LocalWorld& world, const AttemptId& id) {
  const auto lock = open_lock(world.paths(id).file(kLockFile), true);
  if (!lock) return {};
  return read_lock_record(lock->get()).value_or(LockRecord{});
}

TEST(AttemptFaults, AHostThatRebootedLosesItsAttempts) {
  LocalWorld world;
  const LaunchOrder order = world.order({"sleep", "3600"});
  world.launch_and_wait_for_start(order);
  world.stop_launcher();
  world.kill_agent(order.id);
  const std::string lock_file = world.paths(order.id).file(kLockFile);
  ASSERT_TRUE(world.run_until([&] { return !is_locked(lock_file); }));
  LockRecord record = record_of(world, order.id);
  record.boot_id = "00000000-0000-4000-8000-000000000000";
  const auto lock = open_lock(lock_file, true);
  ASSERT_TRUE(lock && write_lock_record(lock->get(), record));
  world.start_launcher();
  const AttemptFinding finding = world.launcher().settle(order.id);
  ASSERT_TRUE(std::holds_alternative<AttemptLostReport>(finding));
  EXPECT_EQ(std::get<AttemptLostReport>(finding).detail, "the host was rebooted");
}

// The result was not on the disk yet when the power went: its name may be, with zeros in it.
TEST(AttemptFaults, AResultThatAPowerLossCutIsNoResult) {
  LocalWorld world;
  const LaunchOrder order = world.shell("exit 3");
  EXPECT_EQ(world.run(order).exit_code, 3);
  ASSERT_TRUE(write_file(world.paths(order.id).result(), std::string(4096, '\0'), Durability::kRenameOnly));
  AttemptFinding finding = world.launcher().settle(order.id);
  ASSERT_TRUE(std::holds_alternative<AttemptLostReport>(finding));
  EXPECT_THAT(std::get<AttemptLostReport>(finding).detail, HasSubstr("result.json"));
  LockRecord record = record_of(world, order.id);
  record.boot_id = "00000000-0000-4000-8000-000000000000";
  const auto lock = open_lock(world.paths(order.id).file(kLockFile), true);
  ASSERT_TRUE(lock && write_lock_record(lock->get(), record));
  finding = world.launcher().settle(order.id);
  ASSERT_TRUE(std::holds_alternative<AttemptLostReport>(finding));
  EXPECT_EQ(std::get<AttemptLostReport>(finding).detail, "the host was rebooted");
}

TEST(AttemptFaults, AttemptsOutliveTheirLauncherAndAreSettledByTheNext) {
  LocalWorld world;
  const LaunchOrder ends = world.shell("while [ ! -e ../../../../go ]; do sleep 0.01; done; exit 6");
  const LaunchOrder lasts = world.order({"sleep", "3600"});
  world.launch_and_wait_for_start(ends);
  world.launch_and_wait_for_start(lasts);
  world.stop_launcher();
  ASSERT_TRUE(write_file(world.data() + "/go", "", Durability::kRenameOnly));
  ASSERT_TRUE(world.run_until([&] { return !is_locked(world.paths(ends.id).file(kLockFile)); }));
  world.start_launcher();
  const AttemptFinding ended = world.launcher().settle(ends.id);
  ASSERT_TRUE(std::holds_alternative<AttemptEndedReport>(ended));
  EXPECT_EQ(std::get<AttemptEndedReport>(ended).end.exit_code, 6);
  EXPECT_TRUE(std::holds_alternative<AttemptAlive>(world.launcher().settle(lasts.id)));
  world.launcher().launch(lasts);  // a doubled order adopts, and starts nothing
  EXPECT_TRUE(is_locked(world.paths(lasts.id).file(kLockFile)));
  world.launcher().stop(lasts.id, Duration::seconds(5));
  ASSERT_TRUE(world.run_until([&] { return world.end_of(lasts.id).has_value(); }));
  EXPECT_EQ(world.end_of(lasts.id)->cause, EndCause::kStopped);
}

TEST(AttemptFaults, AJobThatRemovesItsOwnAttemptIsLostAndLeavesNothing) {
  LocalWorld world;
  const LaunchOrder order =
      world.shell("while [ ! -e ../../../../go ]; do sleep 0.01; done; rm -rf \"$TESON_DIR\"; exec sleep 3600");
  world.launch_and_wait_for_start(order);
  const pid_t agent = record_of(world, order.id).pid;
  ASSERT_GT(agent, 0);
  ASSERT_TRUE(write_file(world.data() + "/go", "", Durability::kRenameOnly));
  ASSERT_TRUE(world.run_until([&] { return world.loss_of(order.id).has_value(); }));
  EXPECT_EQ(world.loss_of(order.id)->detail, "its directory was removed while it ran");
  EXPECT_TRUE(world.run_until([&] { return ::kill(agent, 0) != 0; })) << "the agent is still there";
}

// What a job may put where its result belongs: none of it ends the attempt early, blocks anybody or outlives the truth.
TEST(AttemptFaults, TheJobsOwnResultIsNotBelieved) {
  for (const char* forgery : {"mkfifo ../result.json", "mkdir -p ../result.json/full", "echo '{}' > ../result.json",
                              "ln -s /dev/zero ../result.json"}) {
    LocalWorld world;
    const LaunchOrder order = world.shell(
        std::string(forgery) + "; touch ../made; while [ ! -e ../../../../go ]; do sleep 0.01; done; exit 6");
    world.launch_and_wait_for_start(order);
    ASSERT_TRUE(world.run_until([&] { return is_present(world.paths(order.id).file("made")); })) << forgery;
    EXPECT_TRUE(std::holds_alternative<AttemptAlive>(world.launcher().settle(order.id))) << forgery;
    ASSERT_TRUE(write_file(world.data() + "/go", "", Durability::kRenameOnly));
    ASSERT_TRUE(world.run_until([&] { return world.end_of(order.id).has_value(); })) << forgery;
    EXPECT_EQ(world.end_of(order.id)->exit_code, 6) << forgery;
    EXPECT_FALSE(world.loss_of(order.id)) << forgery;
  }
}

// Whatever it does to its lock, and however early: no retry may find it at work.
TEST(AttemptFaults, AJobWithoutItsLockIsOverWhenItIsReported) {
  for (const char* sabotage : {"rm ../lock", "rm -rf ../*", "rm ../lock; mkfifo ../lock", "mv ../lock ../other",
                               "rm ../lock; touch ../lock; echo '{}' > ../result.json"}) {
    LocalWorld world({.sweep = Duration::millis(20)});
    const LaunchOrder order = world.shell(std::string(sabotage) + "; cd /; exec 9> " + world.data() +
                                          "/held; flock 9; touch " + world.data() + "/holds; sleep 3600");
    world.launcher().launch(order);
    ASSERT_TRUE(world.run_until([&] { return world.loss_of(order.id) || world.end_of(order.id); })) << sabotage;
    EXPECT_FALSE(is_locked(world.data() + "/held")) << "it still runs after: " << sabotage;
    const auto end = world.end_of(order.id);
    EXPECT_TRUE(!end || end->exit_code == 128 + SIGKILL) << sabotage;
  }
}

TEST(AttemptFaults, AStopThatCameBeforeTheStartPreventsIt) {
  LocalWorld world;
  const LaunchOrder order = world.shell("touch ran");
  const AttemptPaths paths = world.paths(order.id);
  ASSERT_TRUE(make_directories(paths.directory));
  ASSERT_TRUE(write_file(paths.file(kStopFile), encode_stop(Duration::seconds(1)), Durability::kRenameOnly));
  const AttemptEnd end = world.run(order);
  EXPECT_EQ(end.cause, EndCause::kStopped);
  EXPECT_EQ(end.exit_code, std::nullopt);
  EXPECT_FALSE(is_present(paths.file("work/ran")));
}

TEST(AttemptFaults, SigtermToTheAgentIsAStop) {
  LocalWorld world;
  const LaunchOrder order = world.shell("trap 'exit 8' TERM; touch ready; while :; do sleep 0.01; done");
  world.launch_and_wait_for_start(order);
  ASSERT_TRUE(world.run_until([&] { return is_present(world.paths(order.id).file("work/ready")); }));
  ASSERT_EQ(::kill(record_of(world, order.id).pid, SIGTERM), 0);
  ASSERT_TRUE(world.run_until([&] { return world.end_of(order.id).has_value(); }));
  EXPECT_EQ(world.end_of(order.id)->cause, EndCause::kStopped);
  EXPECT_EQ(world.end_of(order.id)->exit_code, 8);
}

// Somebody suspended the agent: the job's time-out and stops would never come.
TEST(AttemptFaults, ASuspendedAgentIsWoken) {
  LocalWorld world({.sweep = Duration::millis(20)});
  LaunchOrder order = world.order({"sleep", "3600"});
  order.timeout = Duration::seconds(1);
  world.launch_and_wait_for_start(order);
  ASSERT_EQ(::kill(record_of(world, order.id).pid, SIGSTOP), 0);
  ASSERT_TRUE(world.run_until([&] { return world.end_of(order.id).has_value(); }));
  EXPECT_EQ(world.end_of(order.id)->cause, EndCause::kTimedOut);
}

// A tracer holds it: neither SIGCONT nor the stop reach it.
TEST(AttemptFaults, AnAgentThatDoesNotCarryOutAStopIsKilledWithItsTree) {
  LocalWorld world({.sweep = Duration::millis(20), .stop_margin = Duration::millis(200)});
  const LaunchOrder order = world.shell("echo $$ > pid; exec sleep 3600");
  world.launch_and_wait_for_start(order);
  const pid_t agent = record_of(world, order.id).pid;
  ASSERT_EQ(::ptrace(PTRACE_SEIZE, agent, nullptr, nullptr), 0);
  ASSERT_EQ(::ptrace(PTRACE_INTERRUPT, agent, nullptr, nullptr), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(agent, &status, __WALL), agent);
  world.launcher().stop(order.id, Duration::millis(100));
  ASSERT_TRUE(world.run_until([&] {
    ::waitpid(agent, &status, __WALL | WNOHANG);  // a tracer must collect it, or it stays a zombie
    return world.loss_of(order.id).has_value();
  }));
  EXPECT_EQ(world.loss_of(order.id)->detail, "its agent did not carry out the stop and was killed");
  EXPECT_FALSE(is_locked(world.paths(order.id).file(kLockFile)));
}

TEST(AttemptFaults, LostPokesOnlyDelayReports) {
  LocalWorld world({.sweep = Duration::millis(50)});
  std::filesystem::remove(world.data() + "/" + kControlSocket);
  const LaunchOrder order = world.order({"sleep", "3600"});
  world.launch_and_wait_for_start(order);
  world.launcher().stop(order.id, Duration::seconds(5));
  EXPECT_TRUE(world.run_until([&] { return world.end_of(order.id).has_value(); }));
}

TEST(AttemptFaults, AnUnreadableOrderIsAFailedLaunchThatNamesTheField) {
  LocalWorld world;
  const LaunchOrder order = world.shell("exit 0");
  const AttemptPaths paths = world.paths(order.id);
  ASSERT_TRUE(make_directories(paths.file(kWorkDirectory)));
  std::string spec = encode_order(order).value();
  spec.replace(spec.find("\"grace_us\":"), 11, "\"grace_us\":\"x\",\"y\":");
  ASSERT_TRUE(write_file(paths.file(kSpecFile), spec, Durability::kRenameOnly));
  const auto agent = spawn_detached(TESON_TEST_AGENT, {"teson", "agent", paths.directory}, STDIN_FILENO);
  ASSERT_TRUE(agent);
  int status = 0;
  ASSERT_EQ(::waitpid(agent->pid, &status, 0), agent->pid);
  const auto result = decode_result(text_of(paths.result()), "result.json");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->end.cause, EndCause::kLaunchFailed);
  EXPECT_THAT(result->end.reason, HasSubstr("spec.json: field 'grace_us' must be a whole number, it is string"));
}

TEST(AttemptFaults, ASecondAgentForTheSameAttemptGoesAway) {
  LocalWorld world;
  const LaunchOrder order = world.order({"sleep", "3600"});
  world.launch_and_wait_for_start(order);
  const auto second =
      spawn_detached(TESON_TEST_AGENT, {"teson", "agent", world.paths(order.id).directory}, STDIN_FILENO);
  ASSERT_TRUE(second);
  int status = 0;
  ASSERT_EQ(::waitpid(second->pid, &status, 0), second->pid);
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_TRUE(is_locked(world.paths(order.id).file(kLockFile)));
}

TEST(AttemptFaults, ADirectoryThatCannotBeMadeIsAFailedLaunch) {
  LocalWorld world;
  const LaunchOrder order = world.shell("exit 0");
  ASSERT_TRUE(write_file(world.data() + "/attempts/" + order.id.job.text(), "a file", Durability::kRenameOnly));
  const AttemptEnd end = world.run(order);
  EXPECT_EQ(end.cause, EndCause::kLaunchFailed);
  EXPECT_THAT(end.reason, HasSubstr("Not a directory"));
}

TEST(AttemptFaults, ASecondServerOnTheSameDataIsRefused) {
  LocalWorld world;
  const auto second = LocalLauncher::open(world.data(), [](AttemptReport) {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::kConflict);
  EXPECT_THAT(second.error().message, HasSubstr(world.data()));
}

TEST(AgentProgram, RunsFromMemoryWhenGivenAsBytes) {
  const std::string program = read_file(TESON_TEST_AGENT, size_t{256} << 20).value();
  LocalWorld world({.agent_image = {reinterpret_cast<const unsigned char*>(program.data()), program.size()}});
  const LaunchOrder order = world.order({"sleep", "3600"});
  world.launch_and_wait_for_start(order);
  const std::string agent = "/proc/" + std::to_string(record_of(world, order.id).pid) + "/exe";
  const std::string name = std::filesystem::read_symlink(agent).string();
  // Where memory may not be executed the file is used, and that is right too.
  EXPECT_TRUE(name.starts_with("/memfd:teson-agent") || name == TESON_TEST_AGENT) << name;
}

TEST(AgentProgram, AnAbsentOneIsAnErrorAtTheStart) {
  const auto program = open_agent_program("/nonexistent/teson", {});
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message, "cannot open the agent's program /nonexistent/teson: No such file or directory");
}

TEST(AttemptFaults, AnAgentIsSmall) {
  LocalWorld world;
  const LaunchOrder order = world.order({"sleep", "3600"});
  world.launch_and_wait_for_start(order);
  const std::string text = text_of("/proc/" + std::to_string(record_of(world, order.id).pid) + "/smaps_rollup");
  const size_t at = text.find("\nPss:");
  ASSERT_NE(at, std::string::npos);
#ifndef TESON_SANITIZED
  EXPECT_LT(std::atoi(text.c_str() + at + 5), 2048) << "KiB";
#endif
}

TEST(AttemptPruning, WorkIsKeptByPolicy) {
  LocalWorld world({.keep_work = KeepWork::kFailed});
  const LaunchOrder good = world.shell("touch made");
  const LaunchOrder bad = world.shell("touch made; exit 1");
  world.run(good);
  world.run(bad);
  const std::vector<AttemptId> ids = {bad.id, good.id};
  world.launcher().forget(ids);
  EXPECT_TRUE(world.run_until([&] { return !is_present(world.paths(good.id).file("work")); }));
  EXPECT_TRUE(is_present(world.paths(bad.id).file("work/made")));
  EXPECT_TRUE(is_present(world.paths(good.id).result()));
}

bool write_control(const std::string& path, const std::string& text) {
  const OwnedFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && write_all(fd.get(), text, path);
}

// In a forked child, so only system calls and what needs no other thread. False: errno says why.
bool mount_small_disk(const std::string& place, int kib, uid_t user, gid_t group) {
  if (::unshare(CLONE_NEWNS | (user == 0 ? 0 : CLONE_NEWUSER)) != 0) return false;
  if (user != 0 && !(write_control("/proc/self/setgroups", "deny") &&
                     write_control("/proc/self/uid_map", "0 " + std::to_string(user) + " 1") &&
                     write_control("/proc/self/gid_map", "0 " + std::to_string(group) + " 1"))) {
    return false;
  }
  const std::string size = "size=" + std::to_string(kib) + "k";
  return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", place.c_str(), "tmpfs", 0, size.c_str()) == 0;
}

// Runs the current test once more, in a process with mounts of its own whose data directories lie on a file system of
// `kib` KiB; there `scenario` is what it does. As an ordinary user too.
void on_small_disk(int kib, void (*scenario)()) {
  if (std::getenv(kTestDiskVariable)) return scenario();
  std::string place = (std::filesystem::temp_directory_path() / "teson-disk-XXXXXX").string();
  ASSERT_NE(::mkdtemp(place.data()), nullptr);
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  const std::string filter = std::string("--gtest_filter=") + test->test_suite_name() + "." + test->name();
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  const pid_t child = ::fork();
  if (child == 0) {
    if (!mount_small_disk(place, kib, user, group)) ::_exit(99);
    ::setenv(kTestDiskVariable, place.c_str(), 1);
    ::execl("/proc/self/exe", "teson_launch_local_test", filter.c_str(), "--gtest_brief=1", nullptr);
    ::_exit(98);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "exit status " << WEXITSTATUS(status) << "; 99: the small disk could not be mounted";
  ::rmdir(place.c_str());
}

// Takes all room but for `pages` pages of 4 KiB.
void fill_disk(const std::string& file, int pages) {
  const OwnedFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const std::string page(4096, 'x');
  off_t size = 0;
  while (::write(fd.get(), page.data(), page.size()) == 4096) size += 4096;
  ASSERT_EQ(::ftruncate(fd.get(), size - pages * 4096), 0);
}

TEST(FullDisk, TheResultIsWrittenIntoItsReserve) {
  on_small_disk(512, [] {
    LocalWorld world;
    const LaunchOrder order = world.shell("cat /dev/zero > fill; cat /dev/zero >> fill; exit 5");
    EXPECT_EQ(world.run(order).exit_code, 5);
  });
}

constexpr const char* kOutputMissing = "the disk was full while it ran: some of its output may be missing";

TEST(FullDisk, OutputThatMayBeMissingIsTold) {
  on_small_disk(512, [] {
    LocalWorld world;
    const LaunchOrder order = world.shell(
        "echo first; while [ ! -e begin ]; do sleep 0.01; done; cat /dev/zero > fill; while head -c 4096 /dev/zero >> "
        "fill; do :; done; echo; while [ ! -e go ]; "
        "do sleep 0.01; done; rm fill; echo last");
    world.launch_and_wait_for_start(order);
    const AttemptPaths paths = world.paths(order.id);
    ASSERT_EQ(::mkdir(paths.file("work/begin").c_str(), 0700), 0);
    ASSERT_TRUE(world.run_until([&] { return text_of(paths.events()).find(kOutputMissing) != std::string::npos; }))
        << text_of(paths.events()) << world.log_of(order.id);
    ASSERT_EQ(::mkdir(paths.file("work/go").c_str(), 0700), 0);  // takes no page
    ASSERT_TRUE(world.run_until([&] { return world.end_of(order.id).has_value(); }));
    EXPECT_EQ(world.end_of(order.id)->exit_code, 0);
    EXPECT_EQ(world.end_of(order.id)->reason, kOutputMissing);
    EXPECT_THAT(world.log_of(order.id), HasSubstr("last"));
  });
}

TEST(FullDisk, OutputThatMayBeMissingIsToldEvenIfItIsFullToTheEnd) {
  on_small_disk(512, [] {
    LocalWorld world;
    const AttemptEnd end =
        world.run(world.shell("cat /dev/zero > fill; while head -c 4096 /dev/zero >> fill; do :; done; exit 5"));
    EXPECT_EQ(end.exit_code, 5);
    EXPECT_EQ(end.reason, kOutputMissing);
  });
}

TEST(FullDisk, ALaunchWaitsForRoomAndIsNotAFailure) {
  on_small_disk(512, [] {
    LocalWorld world({.retry = Duration::millis(20)});
    fill_disk(world.data() + "/fill", 0);
    const LaunchOrder order = world.shell("exit 5");
    world.launcher().launch(order);
    EXPECT_TRUE(std::holds_alternative<AttemptAlive>(world.launcher().settle(order.id)));
    EXPECT_TRUE(world.reports().empty());
    std::filesystem::remove(world.data() + "/fill");
    ASSERT_TRUE(world.run_until([&] { return world.end_of(order.id).has_value(); }));
    EXPECT_EQ(world.end_of(order.id)->exit_code, 5);
  });
}

// Leaves room for the order, the lock's record and the events (where "no control groups" stands), not for a result.
void launch_without_room_for_a_result(LocalWorld& world, const LaunchOrder& order) {
  fill_disk(world.data() + "/fill", 3);
  world.launcher().launch(order);
  const std::string events = world.paths(order.id).events();
  ASSERT_TRUE(world.run_until([&] { return text_of(events).find("\"held\"") != std::string::npos; }))
      << text_of(events);
  EXPECT_TRUE(is_locked(world.paths(order.id).file(kLockFile)));
}

TEST(FullDisk, AnAgentWithoutRoomForItsResultStartsNothingUntilThereIs) {
  on_small_disk(512, [] {
    const ScopedVariable no_cgroups("TESON_AGENT_CGROUP", "none");
    LocalWorld world;
    const LaunchOrder order = world.shell("touch ran; exit 5");
    launch_without_room_for_a_result(world, order);
    EXPECT_FALSE(is_present(world.paths(order.id).file("work/ran")));
    std::filesystem::remove(world.data() + "/fill");
    ASSERT_TRUE(world.run_until([&] { return world.end_of(order.id).has_value(); }));
    EXPECT_EQ(world.end_of(order.id)->exit_code, 5);
    EXPECT_TRUE(is_present(world.paths(order.id).file("work/ran")));
  });
}

TEST(FullDisk, AStopReachesAnAgentThatWaitsForRoom) {
  on_small_disk(512, [] {
    const ScopedVariable no_cgroups("TESON_AGENT_CGROUP", "none");
    LocalWorld world;
    const LaunchOrder order = world.shell("touch ran");
    launch_without_room_for_a_result(world, order);
    world.launcher().stop(order.id, Duration::seconds(1));
    std::filesystem::remove(world.data() + "/fill");
    ASSERT_TRUE(world.run_until([&] { return world.end_of(order.id).has_value(); }));
    EXPECT_EQ(world.end_of(order.id)->cause, EndCause::kStopped);
    EXPECT_FALSE(is_present(world.paths(order.id).file("work/ran")));
  });
}

}  // namespace
}  // namespace teson
