// What is to be executed, prepared while memory may still be allocated, and the last steps before execve.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "domain/launch.h"

namespace teson {

struct Program {
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // "NAME=value"
  std::string working_directory;
  int log_fd = -1;                     // open for appending
  std::vector<int> cgroup_tasks;       // v1: descriptors of "tasks" files that the program joins
  std::optional<UnixAccount> account;  // nothing: the agent's own rights
  int oom_score_raise = 300;           // above the agent's own, so that the kernel takes the job first
};

// Where the attempt's things lie, as the program is told.
struct ProgramPlaces {
  std::string directory;
  std::string work;
  std::string checkpoints;
};

// The order's environment, plus PATH, HOME, LANG, PYTHONUNBUFFERED where absent (and, with an account, USER, LOGNAME),
// plus what is the agent's alone to say: TESON_ATTEMPT_ID, TESON_ATTEMPT, TESON_DIR, TESON_WORK, TESON_CHECKPOINTS, and
// CUDA_VISIBLE_DEVICES with CUDA_DEVICE_ORDER: the allocation wins over the user's value, and a job without GPUs sees
// none.
Program make_program(const LaunchOrder& order, const ProgramPlaces& places, int log_fd);

enum class LaunchStep : int { kCgroup, kDirectory, kExecute, kFork, kAccount };
// Sent through the error pipe when a step fails; success closes the pipe without a word.
struct LaunchFailure {
  LaunchStep step = LaunchStep::kExecute;
  int error = 0;
};
// "CannotStartContainerError: cannot run 'foo': No such file or directory"
std::string launch_failure_text(const LaunchFailure& failure, const Program& program);

// In the new process: own session, the account's rights for good, log, directory, default signals, no other descriptor,
// and execve with the search rules of execvp and the program's own PATH.
[[noreturn]] void become(const Program& program, int error_fd);

}  // namespace teson
