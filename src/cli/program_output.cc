#include "cli/program_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "cli/session.h"

extern char** environ;

namespace teson::cli {
namespace {

constexpr size_t kMostOutput = 64 * 1024;

Result<pid_t> spawn(const std::vector<std::string>& words, int output) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return std::unexpected(make_errno_error("cannot run " + words[0], error));
  return pid;
}

// Until the end of the output. False: the limit came first.
bool read_all(int fd, Duration limit, std::string& text) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::microseconds(limit.micros);
  char buffer[4096];
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd ready{fd, POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(left)) <= 0) continue;
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    if (text.size() < kMostOutput) text.append(buffer, static_cast<size_t>(got));
  }
}

}  // namespace

Result<std::string> program_output(const std::vector<std::string>& words, Duration limit) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno_error("cannot make a pipe");
  const auto pid = spawn(words, ends[1]);
  ::close(ends[1]);
  if (!pid) {
    ::close(ends[0]);
    return std::unexpected(pid.error());
  }
  std::string text;
  const bool ended = read_all(ends[0], limit, text);
  ::close(ends[0]);
  if (!ended) ::kill(*pid, SIGKILL);
  int status = 0;
  while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended)
    return fail(ErrorKind::kUnavailable, fmt::format("{} did not end in {} s", words[0], limit.whole_seconds()));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return fail(ErrorKind::kUnavailable, words[0] + " failed");
  return text;
}

std::string find_program(const std::string& name) {
  std::string path = environment_value("PATH");
  for (size_t start = 0; start <= path.size();) {
    const size_t end = std::min(path.find(':', start), path.size());
    const std::string candidate = path.substr(start, end - start) + "/" + name;
    struct stat facts{};
    if (::stat(candidate.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && ::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
    start = end + 1;
  }
  return {};
}

}  // namespace teson::cli
