#include "agent/process_tree.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "agent/cgroup.h"
#include "agent/init.h"
#include "attempt_dir/files.h"
#include "attempt_dir/leftovers.h"

namespace teson {

pid_t fork_into(uint64_t flags, int cgroup_fd) {
  clone_args arguments{};
  arguments.flags = flags;
  arguments.exit_signal = SIGCHLD;
  if (cgroup_fd >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<uint64_t>(cgroup_fd);
  }
  const long pid = ::syscall(SYS_clone3, &arguments, sizeof arguments);
  return pid < 0 ? -errno : static_cast<pid_t>(pid);
}

pid_t fork_sibling(OwnedFd& process) {
  int pidfd = -1;
  clone_args arguments{};
  arguments.flags = CLONE_PARENT | CLONE_PIDFD;
  arguments.pidfd = reinterpret_cast<uint64_t>(&pidfd);
  const long pid = ::syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid > 0) process.reset(pidfd);
  return pid < 0 ? -errno : static_cast<pid_t>(pid);
}

// The program's id as the host sees it: inside its namespace it is always 2.
static std::optional<pid_t> only_child_of(pid_t pid) {
  const std::string id = std::to_string(pid);
  const auto text = read_file("/proc/" + id + "/task/" + id + "/children", 4096);
  if (!text || text->empty()) return std::nullopt;
  return static_cast<pid_t>(std::strtol(text->c_str(), nullptr, 10));
}

std::expected<void, LaunchFailure> ProcessTree::start(const Program& program) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::unexpected(LaunchFailure{LaunchStep::kFork, errno});
  const OwnedFd reading(ends[0]);
  OwnedFd writing(ends[1]);
  LaunchFailure failure;
  bool started = want_namespace_ && start_init(program, writing.get(), failure);
  if (!started && failure.error == 0) started = start_directly(program, writing.get(), failure);
  if (!started) return std::unexpected(failure);
  writing.reset();
  ssize_t n;
  do {
    n = ::read(reading.get(), &failure, sizeof failure);
  } while (n < 0 && errno == EINTR);
  if (n == 0) return {};
  // The process that failed is on its way out; wait, so that nothing is left when this returns.
  while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
  }
  gone_ = true;
  return std::unexpected(n == sizeof failure ? failure : LaunchFailure{LaunchStep::kFork, EIO});
}

// False with no failure set: this machine or user has no namespaces.
bool ProcessTree::start_init(const Program& program, int error_fd, LaunchFailure& failure) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
  OwnedFd ours(ends[0]);
  OwnedFd theirs(ends[1]);
  const pid_t pid = fork_into(CLONE_NEWPID | CLONE_NEWNS, -1);
  if (pid < 0) return false;
  if (pid == 0) {
    ::close(lock_fd_);
    ours.reset();
    run_init(theirs.get(), program, cgroup_.clone_fd(), error_fd);
  }
  theirs.reset();
  InitMessage hello;
  ssize_t n;
  do {
    n = ::recv(ours.get(), &hello, sizeof hello, 0);
  } while (n < 0 && errno == EINTR);
  if (n == sizeof hello && hello.kind == InitMessage::kStarted) {
    init_pid_ = pid;
    main_pid_ = only_child_of(pid).value_or(pid);
    link_ = std::move(ours);
    return true;
  }
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (n == sizeof hello && hello.kind == InitMessage::kCannotFork) failure = {LaunchStep::kFork, hello.value};
  return false;
}

bool ProcessTree::start_directly(const Program& program, int error_fd, LaunchFailure& failure) {
  // Orphans of the tree come to us, so "no children" means "nothing left".
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t agent = ::getpid();
  const pid_t pid = fork_into(0, cgroup_.clone_fd());
  if (pid < 0) {
    failure = {LaunchStep::kFork, -pid};
    return false;
  }
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != agent) ::_exit(127);
    become(program, error_fd);
  }
  main_pid_ = pid;
  return true;
}

void ProcessTree::signal_all(int signal) {
  const pid_t self = ::getpid();
  for (const pid_t pid : descendants_of(self)) {
    // Ours by descent: the number cannot be reused before we reap it, or its parent does; look again after pinning.
    signal_pinned(pid, signal, [&](pid_t p) { return is_descendant(p, self); });
  }
}

void ProcessTree::terminate() {
  terminating_ = true;
  if (gone_) return;
  if (link_) {
    const InitMessage message{.kind = InitMessage::kTerminate};
    ::send(link_.get(), &message, sizeof message, MSG_NOSIGNAL);
    return;
  }
  signal_all(SIGTERM);
  signal_all(SIGCONT);
}

void ProcessTree::kill() {
  if (gone_) return;
  if (link_) {
    // The init first, so that it can still tell how the main program ended; itself if it did not manage.
    if (killing_) ::kill(init_pid_, SIGKILL);
    const InitMessage message{.kind = InitMessage::kKill};
    ::send(link_.get(), &message, sizeof message, MSG_NOSIGNAL);
    killing_ = true;
    return;
  }
  killing_ = true;
  cgroup_.kill_all();
  signal_all(SIGKILL);
}

void ProcessTree::read_messages() {
  InitMessage message;
  ssize_t n = -1;
  while (link_ && (n = ::recv(link_.get(), &message, sizeof message, MSG_DONTWAIT)) == sizeof message) {
    if (message.kind == InitMessage::kMainEnded) main_end_ = MainEnd{message.value, message.after_terminate};
  }
  hung_up_ = hung_up_ || n == 0;
}

void ProcessTree::reap() {
  if (gone_) return;
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid == 0) break;
    if (pid < 0) {
      if (errno == EINTR) continue;
      gone_ = true;
      break;
    }
    if (pid == init_pid_) {
      read_messages();
      // Killed from outside before it could tell: so was everything in its namespace.
      if (!main_end_) main_end_ = MainEnd{WIFSIGNALED(status) ? status : SIGKILL, terminating_};
    } else if (pid == main_pid_ && !in_namespace()) {
      main_end_ = MainEnd{status, terminating_};
    }
  }
  read_messages();
  const bool rest_must_go = !in_namespace() && main_end_ && !terminating_;
  if (!gone_ && (rest_must_go || (killing_ && !in_namespace()))) {
    cgroup_.kill_all();
    signal_all(SIGKILL);
  }
}

}  // namespace teson
