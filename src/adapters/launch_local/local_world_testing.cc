#include "adapters/launch_local/local_world_testing.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <filesystem>

#include "attempt_dir/files.h"
#include "attempt_dir/lock.h"

namespace teson {

using namespace std::chrono_literals;

LocalWorld::LocalWorld(LocalLauncherOptions options) : options_(std::move(options)) {
  const char* disk = ::getenv(kTestDiskVariable);
  std::string name =
      (disk ? std::string(disk) : std::filesystem::temp_directory_path().string()) + "/teson-launch-XXXXXX";
  EXPECT_NE(::mkdtemp(name.data()), nullptr);
  data_ = name;
  options_.agent_program = TESON_TEST_AGENT;
  start_launcher();
}

LocalWorld::~LocalWorld() {
  // No agent may outlive its test.
  for (const AttemptId& id : ordered_) {
    if (!is_locked(paths(id).file(kLockFile))) continue;
    if (!launcher_) start_launcher();
    launcher_->stop(id, Duration{});
    EXPECT_TRUE(run_until([&] { return !is_locked(paths(id).file(kLockFile)); })) << id.text() << " is still running";
  }
  launcher_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(data_, ignored);
}

void LocalWorld::start_launcher() {
  auto opened = LocalLauncher::open(
      data_,
      [this](AttemptReport report) {
        const std::lock_guard guard(mutex_);
        reports_.push_back(std::move(report));
        changed_.notify_all();
      },
      options_);
  ASSERT_TRUE(opened) << opened.error().message;
  launcher_ = std::move(*opened);
}

void LocalWorld::restart_launcher() {
  launcher_.reset();
  start_launcher();
}

LaunchOrder LocalWorld::order(std::vector<std::string> command) {
  static std::atomic<uint64_t> next = 1;
  LaunchOrder order;
  order.id = {JobId{Uuid::from_random_bits(static_cast<uint64_t>(::getpid()), next++)}, 1};
  order.job_name = "test";
  order.image = "host";
  order.command = std::move(command);
  order.limits = {.milli_vcpus = 1000, .memory_mib = 256, .gpus = 0};
  order.grace = Duration::seconds(5);
  ordered_.push_back(order.id);
  return order;
}

LaunchOrder LocalWorld::order(ProgramKind kind) {
  switch (kind) {
    case ProgramKind::kSucceeds:
      return shell("exit 0");
    case ProgramKind::kFailsWith3:
      return shell("exit 3");
    case ProgramKind::kRunsForAnHour:
      return order({"sleep", "3600"});
    case ProgramKind::kIgnoresTerm:
      return shell("trap '' TERM; touch ready; exec sleep 3600");
    case ProgramKind::kAbsent:
      break;
  }
  return order({"/nonexistent/program"});
}

std::vector<AttemptReport> LocalWorld::reports() {
  const std::lock_guard guard(mutex_);
  return reports_;
}

bool LocalWorld::run_until(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::unique_lock guard(mutex_);
    changed_.wait_for(guard, 2ms);
  }
  return true;
}

void LocalWorld::kill_agent(const AttemptId& id) {
  const auto lock = open_lock(paths(id).file(kLockFile), true);
  ASSERT_TRUE(lock);
  const auto record = read_lock_record(lock->get());
  ASSERT_TRUE(record);
  ASSERT_EQ(::kill(record->pid, SIGKILL), 0);
}

std::optional<AttemptEnd> LocalWorld::end_of(const AttemptId& id) {
  for (const AttemptReport& report : reports()) {
    const auto* ended = std::get_if<AttemptEndedReport>(&report.body);
    if (report.id == id && ended) return ended->end;
  }
  return std::nullopt;
}

std::optional<AttemptLostReport> LocalWorld::loss_of(const AttemptId& id) {
  for (const AttemptReport& report : reports()) {
    const auto* lost = std::get_if<AttemptLostReport>(&report.body);
    if (report.id == id && lost) return *lost;
  }
  return std::nullopt;
}

AttemptEnd LocalWorld::run(const LaunchOrder& order) {
  launcher_->launch(order);
  EXPECT_TRUE(run_until([&] { return end_of(order.id).has_value(); })) << "no end of " << order.id.text();
  return end_of(order.id).value_or(AttemptEnd{});
}

void LocalWorld::launch_and_wait_for_start(const LaunchOrder& order) {
  launcher_->launch(order);
  ASSERT_TRUE(run_until([&] {
    for (const AttemptReport& report : reports()) {
      if (report.id == order.id && std::holds_alternative<AttemptStartedReport>(report.body)) return true;
    }
    return false;
  }));
}

std::string LocalWorld::log_of(const AttemptId& id) const { return text_of(paths(id).log()); }

ScopedVariable::ScopedVariable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
ScopedVariable::~ScopedVariable() { ::unsetenv(name_); }

bool is_locked(const std::string& path) {
  const auto lock = open_lock(path, true);
  return lock && !try_lock(*lock);
}

std::string text_of(const std::string& path) { return read_file(path).value_or(std::string()); }
bool is_present(const std::string& path) { return exists(path); }

}  // namespace teson
