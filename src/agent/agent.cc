#include "agent/agent.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "agent/nursery.h"
#include "agent/supervisor.h"
#include "attempt_dir/lock.h"
#include "attempt_dir/paths.h"

namespace teson {
namespace {

constexpr int kBadUse = 2;
constexpr int kLocked = 3;

int complain(const std::string& what) {
  std::fprintf(stderr, "teson agent: %s\n", what.c_str());
  return kBadUse;
}

}  // namespace

void close_all_but(int kept) {
  constexpr unsigned kFirst = 3;
  const unsigned number = static_cast<unsigned>(kept);
  if (kept > 3) ::close_range(kFirst, number - 1, 0);
  ::close_range(std::max(kFirst, number + 1), ~0U, 0);
}

int agent_main(const std::string& directory, int lock_fd) {
  ::prctl(PR_SET_NAME, "teson-agent");
  OwnedFd lock(lock_fd);
  // All later paths are relative: short enough for socket addresses, and right even if a folder above is renamed.
  if (::chdir(directory.c_str()) != 0) return complain("cannot enter " + directory + ": " + std::strerror(errno));
  if (!lock) {
    auto opened = open_lock(kLockFile, false);
    if (!opened) return complain(opened.error().message);
    lock = std::move(*opened);
  }
  ::fcntl(lock.get(), F_SETFD, FD_CLOEXEC);
  if (!try_lock(lock)) {
    std::fprintf(stderr, "teson agent: another agent runs %s\n", directory.c_str());
    return kLocked;
  }
  char absolute[PATH_MAX];
  if (::getcwd(absolute, sizeof absolute) == nullptr) return complain(std::string("getcwd: ") + std::strerror(errno));
  Supervisor supervisor(absolute, std::move(lock));
  supervisor.run();
  return 0;
}

static int agent_command(int argc, char** argv) {
  if (argc < 1 || argc > 2) return complain("usage: teson agent DIRECTORY [LOCK_FD] (started by the server)");
  int lock_fd = -1;
  if (argc == 2) {
    const char* end = argv[1] + std::strlen(argv[1]);
    const auto [stop, error] = std::from_chars(argv[1], end, lock_fd);
    if (error != std::errc() || stop != end || ::fcntl(lock_fd, F_GETFD) < 0) {
      return complain(std::string("LOCK_FD is '") + argv[1] + "': it must be an open descriptor of DIRECTORY/lock");
    }
  }
  close_all_but(lock_fd);
  return agent_main(argv[0], lock_fd);
}

std::optional<int> agent_entry(int argc, char** argv) {
  if (argc < 2) return std::nullopt;
  if (std::strcmp(argv[1], "agent") == 0) return agent_command(argc - 2, argv + 2);
  if (std::strcmp(argv[1], "agent-nursery") == 0) return nursery_command(argc - 2, argv + 2);
  return std::nullopt;
}

}  // namespace teson
