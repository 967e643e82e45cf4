#include "agent/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "attempt_dir/files.h"
#include "attempt_dir/paths.h"

namespace teson {
namespace {

constexpr const char* kDefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

class EnvironmentBuilder {
 public:
  explicit EnvironmentBuilder(const EnvironmentVariables& variables) : variables_(variables) {}

  void set(const std::string& name, std::string value) {
    std::erase_if(variables_, [&](const auto& variable) { return variable.first == name; });
    variables_.emplace_back(name, std::move(value));
  }
  void set_default(const std::string& name, std::string value) {
    const bool present =
        std::any_of(variables_.begin(), variables_.end(), [&](const auto& variable) { return variable.first == name; });
    if (!present) variables_.emplace_back(name, std::move(value));
  }
  std::vector<std::string> build() const {
    std::vector<std::string> lines;
    lines.reserve(variables_.size());
    for (const auto& [name, value] : variables_) lines.emplace_back(name).append("=").append(value);
    return lines;
  }

 private:
  EnvironmentVariables variables_;
};

std::string comma_list(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> list;
  list.reserve(strings.size() + 1);
  for (const std::string& string : strings) list.push_back(const_cast<char*>(string.c_str()));
  list.push_back(nullptr);
  return list;
}

[[noreturn]] void give_up(int error_fd, LaunchStep step, int error) {
  const LaunchFailure failure{step, error};
  // If even this fails the agent sees an end with 127 instead.
  (void)!::write(error_fd, &failure, sizeof failure);
  ::_exit(127);
}

void reset_signals() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void raise_oom_score(int raise) {
  const int fd = ::open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  char text[16] = {};
  if (::read(fd, text, sizeof text - 1) > 0) {
    const int length = std::snprintf(text, sizeof text, "%d", std::min(std::atoi(text) + raise, 1000));
    (void)!::pwrite(fd, text, static_cast<size_t>(length), 0);
  }
  ::close(fd);
}

// For good: afterwards it is made sure that there is no way back.
void take_account(const UnixAccount& account, int error_fd) {
  // A change of rights clears what start_directly() has set; a parent that died meanwhile is found by its number.
  int death_signal = 0;
  ::prctl(PR_GET_PDEATHSIG, &death_signal);
  const pid_t parent = ::getppid();
  const std::vector<gid_t> groups(account.groups.begin(), account.groups.end());
  if (::setgroups(groups.size(), groups.data()) != 0 || ::setresgid(account.gid, account.gid, account.gid) != 0 ||
      ::setresuid(account.uid, account.uid, account.uid) != 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    give_up(error_fd, LaunchStep::kAccount, errno);
  }
  uid_t real = 0, effective = 0, saved = 0;
  ::getresuid(&real, &effective, &saved);
  const bool is_it = real == account.uid && effective == account.uid && saved == account.uid &&
                     ::getegid() == account.gid && ::getgid() == account.gid;
  const bool could_return = account.uid != 0 && (::setuid(0) == 0 || ::seteuid(0) == 0);
  if (!is_it || could_return) give_up(error_fd, LaunchStep::kAccount, EPERM);
  if (death_signal != 0) {
    ::prctl(PR_SET_PDEATHSIG, death_signal);
    if (::getppid() != parent) ::_exit(127);
  }
}

}  // namespace

Program make_program(const LaunchOrder& order, const ProgramPlaces& places, int log_fd) {
  EnvironmentBuilder environment(order.environment);
  const char* home = std::getenv("HOME");
  environment.set_default("PATH", kDefaultPath);
  if (order.account) {
    environment.set_default("HOME", order.account->home.empty() ? "/" : order.account->home);
    environment.set_default("USER", order.account->name);
    environment.set_default("LOGNAME", order.account->name);
  }
  environment.set_default("HOME", home != nullptr && *home != '\0' ? home : "/");
  environment.set_default("LANG", "C.UTF-8");
  environment.set_default("PYTHONUNBUFFERED", "1");
  environment.set(kAttemptIdVariable, order.id.text());
  environment.set("TESON_ATTEMPT", std::to_string(order.id.number));
  environment.set("TESON_DIR", places.directory);
  environment.set("TESON_WORK", places.work);
  environment.set("TESON_CHECKPOINTS", places.checkpoints);
  environment.set("CUDA_VISIBLE_DEVICES", comma_list(order.gpus));
  // The allocation counts as NVML does, by bus; CUDA's own default order is by speed.
  environment.set("CUDA_DEVICE_ORDER", "PCI_BUS_ID");

  Program program;
  program.arguments = order.command;
  program.environment = environment.build();
  program.working_directory = order.working_directory.empty() ? places.work : order.working_directory;
  program.log_fd = log_fd;
  program.account = order.account;
  return program;
}

std::string launch_failure_text(const LaunchFailure& failure, const Program& program) {
  const std::string cause = std::generic_category().message(failure.error);
  const std::string name = program.arguments.empty() ? "" : program.arguments.front();
  switch (failure.step) {
    case LaunchStep::kCgroup:
      return fmt::format("CannotStartContainerError: cannot join the job's control group: {}", cause);
    case LaunchStep::kDirectory:
      if (program.account && failure.error == EACCES) {
        return clip(
            fmt::format("CannotStartContainerError: the account '{}' cannot enter '{}': each folder above must let "
                        "others pass (chmod o+x)",
                        clip(program.account->name, 32), clip(program.working_directory, 120)),
            255);
      }
      return clip(fmt::format("CannotStartContainerError: cannot enter the working directory '{}': {}",
                              clip(program.working_directory, 120), cause),
                  255);
    case LaunchStep::kAccount:
      return fmt::format("CannotStartContainerError: cannot become the account '{}' (uid {}): {}",
                         clip(program.account ? program.account->name : "", 64),
                         program.account ? program.account->uid : 0, cause);
    case LaunchStep::kFork:
      return fmt::format("CannotStartContainerError: cannot make a process: {}", cause);
    case LaunchStep::kExecute:
      break;
  }
  if (name.empty()) return "CannotStartContainerError: the command is empty";
  return clip(fmt::format("CannotStartContainerError: cannot run '{}': {}", clip(name, 150), cause), 255);
}

void become(const Program& program, int error_fd) {
  ::setsid();
  for (const int tasks : program.cgroup_tasks) {
    // "0" to v1 "tasks" moves this one thread, all there is, without the lock that a whole-process move waits for.
    // EINVAL: a real-time process may not enter a CPU group; it then runs outside of that one.
    if (::write(tasks, "0", 1) != 1 && errno != EINVAL) give_up(error_fd, LaunchStep::kCgroup, errno);
  }
  raise_oom_score(program.oom_score_raise);
  reset_signals();
  ::umask(022);
  const int null = ::open("/dev/null", O_RDONLY);
  const int error = ::fcntl(error_fd, F_DUPFD_CLOEXEC, 10);
  ::dup2(null, 0);
  ::dup2(program.log_fd, 1);
  ::dup2(program.log_fd, 2);
  if (::dup3(error, 3, O_CLOEXEC) < 0) give_up(error, LaunchStep::kFork, errno);
  ::syscall(SYS_close_range, 4u, ~0u, 0u);
  if (program.account) take_account(*program.account, 3);
  if (::chdir(program.working_directory.c_str()) != 0) give_up(3, LaunchStep::kDirectory, errno);
  if (program.arguments.empty() || program.arguments.front().empty()) give_up(3, LaunchStep::kExecute, ENOENT);
  const std::vector<char*> arguments = pointers(program.arguments);
  std::vector<char*> variables = pointers(program.environment);
  environ = variables.data();
  ::execvp(arguments.front(), arguments.data());
  give_up(3, LaunchStep::kExecute, errno);
}

}  // namespace teson
