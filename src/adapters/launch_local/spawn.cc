#include "adapters/launch_local/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "attempt_dir/files.h"
#include "base/descriptor_limit.h"

namespace teson {
namespace {

class SpawnSetup {
 public:
  SpawnSetup() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
  }
  ~SpawnSetup() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

OwnedFd away_from_inherited(const OwnedFd& fd) { return OwnedFd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kInheritedFd + 1)); }

// Empty: it cannot be had.
OwnedFd program_in_memory(std::span<const unsigned char> image) {
  const OwnedFd file(::memfd_create("teson-agent", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const std::string_view bytes(reinterpret_cast<const char*>(image.data()), image.size());
  if (!file || !write_all(file.get(), bytes, "teson-agent")) return {};
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) return {};
  // Asks the kernel whether it would execute it: a noexec mount or vm.memfd_noexec says no.
  if (::faccessat(AT_FDCWD, fmt::format("/proc/self/fd/{}", file.get()).c_str(), X_OK, 0) != 0) return {};
  return away_from_inherited(file);
}

}  // namespace

Result<OwnedFd> open_agent_program(const std::string& path, std::span<const unsigned char> image) {
  if (!image.empty()) {
    if (OwnedFd program = program_in_memory(image)) return program;
  }
  const OwnedFd opened(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!opened) return errno_error("cannot open the agent's program " + path);
  return away_from_inherited(opened);
}

Result<Spawned> spawn_detached(const std::string& program, const std::vector<std::string>& arguments, int inherited) {
  SpawnSetup setup;
  for (int fd = 0; fd <= 2; ++fd) {
    ::posix_spawn_file_actions_addopen(&setup.actions, fd, "/dev/null", fd == 0 ? O_RDONLY : O_WRONLY, 0);
  }
  // If it already is number 3 this clears its close-on-exec flag, as POSIX asks.
  ::posix_spawn_file_actions_adddup2(&setup.actions, inherited, kInheritedFd);
  sigset_t none;
  sigset_t all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&setup.attributes, &none);
  ::posix_spawnattr_setsigdefault(&setup.attributes, &all);
  ::posix_spawnattr_setflags(&setup.attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  Spawned spawned;
  const int error =
      ::posix_spawn(&spawned.pid, program.c_str(), &setup.actions, &setup.attributes, words.data(), environ);
  if (error == EAGAIN || error == ENOMEM) {
    return fail(ErrorKind::kUnavailable, std::string("cannot make a process: ") + std::strerror(error));
  }
  if (error != 0) return std::unexpected(make_errno_error("cannot run " + program, error));
  restore_descriptor_limit(spawned.pid);
  spawned.process.reset(static_cast<int>(::syscall(SYS_pidfd_open, spawned.pid, 0)));
  return spawned;
}

}  // namespace teson
