// A data directory, a local launcher in it with the test agent, and what was reported: for tests with real processes.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "adapters/launch_local/local_launcher.h"
#include "attempt_dir/files.h"
#include "attempt_dir/paths.h"
#include "contracts/launcher_fixture.h"

namespace teson {

// Where data directories are made instead of the usual temporary folder. Not TMPDIR: sanitizers put files of their own
// there.
inline constexpr const char* kTestDiskVariable = "TESON_TEST_DISK";

class LocalWorld final : public LauncherFixture {
 public:
  explicit LocalWorld(LocalLauncherOptions options = {});
  ~LocalWorld() override;

  Launcher& launcher() override { return *launcher_; }
  LaunchOrder order(ProgramKind kind) override;
  bool is_ready(const AttemptId& id) override { return exists(paths(id).file("work/ready")); }
  std::vector<AttemptReport> reports() override;
  bool run_until(const std::function<bool()>& condition) override;
  void restart_launcher() override;
  void kill_agent(const AttemptId& id) override;

  LaunchOrder order(std::vector<std::string> command);
  LaunchOrder shell(const std::string& script) { return order({"/bin/sh", "-c", script}); }
  // Launches and waits for the end.
  AttemptEnd run(const LaunchOrder& order);
  void launch_and_wait_for_start(const LaunchOrder& order);
  std::optional<AttemptEnd> end_of(const AttemptId& id);
  std::optional<AttemptLostReport> loss_of(const AttemptId& id);
  void stop_launcher() { launcher_.reset(); }
  void start_launcher();

  AttemptPaths paths(const AttemptId& id) const { return attempt_paths(data_, id); }
  std::string log_of(const AttemptId& id) const;
  const std::string& data() const { return data_; }

 private:
  std::string data_;
  LocalLauncherOptions options_;
  std::unique_ptr<LocalLauncher> launcher_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<AttemptReport> reports_;
  std::vector<AttemptId> ordered_;
};

// Sets a variable for agents spawned while it lives.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value);
  ~ScopedVariable();
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
};

// Whether somebody holds a flock on the file: the only honest test for "alive" here.
bool is_locked(const std::string& path);
std::string text_of(const std::string& path);
bool is_present(const std::string& path);

}  // namespace teson
