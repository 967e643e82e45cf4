#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/doctor_checks.h"
#include "cli/output.h"
#include "cli/program_output.h"
#include "cli/text.h"

namespace teson::cli {
namespace {

constexpr Duration kPythonLimit = Duration::seconds(15);

std::optional<unsigned> mode_of(const std::string& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) return std::nullopt;
  return facts.st_mode & 07777;
}

Finding look_at_data_directory(const std::string& path) {
  struct stat facts{};
  DirectoryFacts directory{.path = path};
  directory.exists = ::stat(path.c_str(), &facts) == 0;
  directory.is_directory = directory.exists && S_ISDIR(facts.st_mode);
  directory.writable = directory.is_directory && ::access(path.c_str(), W_OK | X_OK) == 0;
  directory.mode = facts.st_mode & 07777;
  return judge_data_directory(directory);
}

// The data directory may not be there yet: then its nearest parent that is.
Finding look_at_disk(std::string path) {
  struct statvfs facts{};
  while (::statvfs(path.c_str(), &facts) != 0) {
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos || path == "/") {
      return {Level::kFail, "free disk", "cannot be read at " + path, "check that the disk is mounted"};
    }
    path = slash == 0 ? "/" : path.substr(0, slash);
  }
  return judge_free_disk(path, static_cast<int64_t>(facts.f_bavail) * static_cast<int64_t>(facts.f_frsize));
}

// Where it is, what it runs, whether it takes our keys, how its clock stands.
std::vector<Finding> look_at_server(const Context& context) {
  const auto session = open_session(context.global);
  if (!session) {
    const bool none_yet = session.error().kind == FailureKind::kUnreachable;
    return {{none_yet ? Level::kWarn : Level::kFail, "server", session.error().message,
             none_yet ? "" : "see teson --help"}};
  }
  Client client(*session);
  const auto health = client.health();
  if (!health)
    return {
        {Level::kFail, "server", health.error().message, fmt::format("see the end of {}/server.log", session->data)}};
  std::vector<Finding> findings = {judge_versions(context.hooks.version, health->version, session->endpoint)};
  if (health->date) findings.push_back(judge_clock(*health->date - now()));
  const auto queues = client.batch("DescribeJobQueues", Json::object());
  if (queues) {
    findings.push_back({Level::kOk, "access", "the server takes our keys", ""});
  } else {
    findings.push_back({Level::kFail, "access", queues.error().message,
                        "use the keys in the server's own credentials file; check both clocks"});
  }
  return findings;
}

// As an agent would ask for it; tried in a process of its own, since it binds all later children.
bool may_make_pid_namespace() {
  const pid_t pid = ::fork();
  if (pid < 0) return false;
  if (pid == 0) ::_exit(::unshare(CLONE_NEWPID | CLONE_NEWNS) == 0 ? 0 : 1);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

Finding look_at_clients() {
  std::string boto3;
  if (const std::string python = find_program("python3"); !python.empty()) {
    const auto version = program_output({python, "-c", "import boto3; print(boto3.__version__)"}, kPythonLimit);
    if (version) boto3 = version->substr(0, version->find('\n'));
  }
  return judge_clients(find_program("aws"), boto3);
}

void print_finding(const Finding& finding) {
  print(fmt::format("{:<5} {:<15} {}\n", level_name(finding.level), finding.name, printable(finding.text)));
  if (!finding.advice.empty()) print(fmt::format("{:22}-> {}\n", "", printable(finding.advice)));
}

Outcome<int> run_doctor(const Context& context) {
  const auto data = data_directory(context.global);
  if (!data) return std::unexpected(data.error());
  std::vector<Finding> findings;
  if (context.global.endpoint.empty()) {
    findings.push_back(look_at_data_directory(*data));
    findings.push_back(judge_credentials(*data + "/credentials", mode_of(*data + "/credentials")));
    findings.push_back(look_at_disk(*data));
  }
  for (Finding& finding : look_at_server(context)) findings.push_back(std::move(finding));
  if (context.global.endpoint.empty()) {
    if (context.hooks.probe_host) {
      for (Finding& finding : judge_host(context.hooks.probe_host())) findings.push_back(std::move(finding));
    }
    if (context.hooks.cgroups) findings.push_back(judge_cgroups(context.hooks.cgroups()));
    findings.push_back(judge_pid_namespace(may_make_pid_namespace()));
  }
  findings.push_back(look_at_clients());

  bool failed = false;
  Json list = Json::array();
  for (const Finding& finding : findings) {
    failed = failed || finding.level == Level::kFail;
    if (!context.json()) print_finding(finding);
    list.push_back(Json::object({{"level", level_name(finding.level)},
                                 {"name", finding.name},
                                 {"text", finding.text},
                                 {"advice", finding.advice}}));
  }
  if (context.json()) print_json(Json::object({{"ok", !failed}, {"findings", list}}));
  return failed ? 1 : 0;
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("doctor", "Check this machine and the server; exit code 1 when something fails");
  command->callback([&context] { context.action = [&context] { return run_doctor(context); }; });
}

}  // namespace teson::cli
