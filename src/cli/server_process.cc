#include "cli/server_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/file_kind.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/text.h"

namespace teson::cli {
namespace {

constexpr Duration kStartLimit = Duration::seconds(20);
constexpr Duration kPause = Duration::millis(20);
// After our own server has ended: another one, started by somebody else at the same time, may be coming up.
constexpr Duration kOtherServerLimit = Duration::seconds(3);
constexpr uint16_t kDefaultPort = 8790;
constexpr std::streamoff kShownOfLog = 2000;

bool process_is_gone(int pid) { return pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH; }

// The well-known port serves one data directory; a further one takes any free port, unless an address was set.
bool default_port_is_taken() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const int yes = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kDefaultPort);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool taken = ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 && errno == EADDRINUSE;
  ::close(fd);
  return taken;
}

std::vector<std::string> serve_command(const std::string& data) {
  std::vector<std::string> words = {"teson", "serve", "--data", data};
  const bool address_is_chosen =
      !environment_value("TESON_LISTEN").empty() || !environment_value("TESON_CONFIG").empty();
  if (!address_is_chosen && default_port_is_taken()) {
    words.push_back("--listen");
    words.push_back("127.0.0.1:0");
  }
  return words;
}

// In the environment of a server that a command started. Such a process starts no other: if /proc/self/exe is not the
// program that it is taken for (a test's, say), it would start itself for ever.
constexpr const char* kStartedVariable = "TESON_STARTED_BY_COMMAND";

// Between fork and exec: only what is safe after a fork.
[[noreturn]] void become_server(int log, char* const* arguments, char* const* environment) {
  ::setsid();
  const int null = ::open("/dev/null", O_RDONLY);
  ::dup2(null, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::close_range(3, ~0U, 0);
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  if (::chdir("/") == 0) ::execve("/proc/self/exe", arguments, environment);
  ::_exit(127);
}

Outcome<pid_t> spawn_server(const std::string& data) {
  if (!environment_value(kStartedVariable).empty()) {
    return failure(
        FailureKind::kGeneral,
        fmt::format("no server is started: this process was itself started as one ({} is set)", kStartedVariable));
  }
  std::error_code error;
  // As the server itself would make it: for its owner alone.
  const mode_t mask = ::umask(077);
  std::filesystem::create_directories(data, error);
  ::umask(mask);
  if (error)
    return failure(FailureKind::kGeneral, fmt::format("cannot make the data directory {}: {}", data, error.message()));
  const std::string path = data + "/server.log";
  // O_NONBLOCK: without a reader, a FIFO would be waited for without end.
  const int log = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
  const int open_error = errno;
  struct stat facts{};
  if (::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISCHR(facts.st_mode)) {
    if (log >= 0) ::close(log);
    return failure(FailureKind::kGeneral, fmt::format("{} is {}, but the server that is started here writes its log "
                                                      "there: move it away, or start one with 'teson serve'",
                                                      path, file_kind(facts.st_mode)));
  }
  if (log < 0) return failure(FailureKind::kGeneral, make_errno_error("cannot write " + path, open_error).message);
  std::vector<std::string> words = serve_command(data);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::string started = std::string(kStartedVariable) + "=1";
  std::vector<char*> environment = {started.data()};
  for (char** variable = environ; *variable != nullptr; ++variable) environment.push_back(*variable);
  environment.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) become_server(log, arguments.data(), environment.data());
  const int fork_error = errno;
  ::close(log);
  if (pid < 0) return failure(FailureKind::kGeneral, make_errno_error("cannot start a server", fork_error).message);
  return pid;
}

std::string end_of_log(const std::string& data) {
  std::ifstream log(data + "/server.log", std::ios::binary | std::ios::ate);
  const std::streamoff size = log ? static_cast<std::streamoff>(log.tellg()) : 0;
  std::string text(static_cast<size_t>(std::min<std::streamoff>(size, kShownOfLog)), '\0');
  log.seekg(size - static_cast<std::streamoff>(text.size()));
  log.read(text.data(), static_cast<std::streamsize>(text.size()));
  while (text.ends_with('\n')) text.pop_back();
  return text.empty() ? "(empty)" : text;
}

Failure did_not_start(const std::string& data, const std::string& how) {
  return {FailureKind::kGeneral,
          fmt::format("the server {}; the end of {}/server.log:\n{}", how, data, end_of_log(data)), ""};
}

}  // namespace

bool server_answers(const GlobalOptions& options) {
  const auto data = data_directory(options);
  if (!data) return false;
  const auto file = read_server_file(*data);
  if (!file || (file->pid && process_is_gone(*file->pid))) return false;
  const auto session = open_session(options);
  return session && Client(*session).health().has_value();
}

Outcome<Session> ensure_server(const GlobalOptions& options) {
  if (!options.endpoint.empty() || server_answers(options)) return open_session(options);
  const auto data = data_directory(options);
  if (!data) return std::unexpected(data.error());
  const auto pid = spawn_server(*data);
  if (!pid) return std::unexpected(pid.error());
  Instant limit = now() + kStartLimit;
  bool ended = false;
  while (now() < limit && !interrupted()) {
    if (server_answers(options)) {
      const auto session = open_session(options);
      if (session && !ended) {
        note(fmt::format("started a server at {} (its log: {}/server.log)", session->endpoint, *data));
      }
      return session;
    }
    int status = 0;
    if (!ended && ::waitpid(*pid, &status, WNOHANG) == *pid) {
      ended = true;
      limit = std::min(limit, now() + kOtherServerLimit);
    }
    wait_for(kPause);
  }
  if (interrupted()) return failure(FailureKind::kGeneral, "interrupted while the server was starting");
  return std::unexpected(did_not_start(*data, ended ? "ended at once" : "did not answer within 20 s"));
}

}  // namespace teson::cli
