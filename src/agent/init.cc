#include "agent/init.h"

#include <poll.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "agent/process_tree.h"

namespace teson {
namespace {

class Init {
 public:
  Init(int link, int signals) : link_(link), signals_(signals) {}

  void start(const Program& program, int cgroup_fd, int error_fd) {
    const pid_t pid = fork_into(0, cgroup_fd);
    if (pid < 0) {
      tell({.kind = InitMessage::kCannotFork, .value = -pid});
      ::_exit(1);
    }
    if (pid == 0) become(program, error_fd);
    ::close(error_fd);
    ::close(program.log_fd);
    main_ = pid;
    tell({.kind = InitMessage::kStarted});
  }

  // Until no process is left but this one.
  void serve() {
    while (reap()) {
      pollfd watched[2] = {{link_, POLLIN, 0}, {signals_, POLLIN, 0}};
      if (::poll(watched, 2, -1) < 0) continue;
      if (watched[1].revents != 0) {
        signalfd_siginfo info;
        (void)!::read(signals_, &info, sizeof info);
      }
      if (watched[0].revents != 0) listen();
    }
  }

 private:
  void tell(const InitMessage& message) { ::send(link_, &message, sizeof message, MSG_NOSIGNAL); }

  void listen() {
    InitMessage message;
    const ssize_t n = ::recv(link_, &message, sizeof message, MSG_DONTWAIT);
    if (n < 0) return;
    if (n == 0) ::_exit(1);  // the agent is gone: leaving takes the whole namespace along
    if (message.kind == InitMessage::kTerminate) {
      terminating_ = true;
      ::kill(-1, SIGTERM);
      ::kill(-1, SIGCONT);
    } else if (message.kind == InitMessage::kKill) {
      ::kill(-1, SIGKILL);
    }
  }

  // False: nothing left.
  bool reap() {
    for (;;) {
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, WNOHANG);
      if (pid == 0) return true;
      if (pid < 0) return errno == EINTR;
      if (pid != main_) continue;
      tell({.kind = InitMessage::kMainEnded, .value = status, .after_terminate = terminating_});
      if (!terminating_) ::kill(-1, SIGKILL);
    }
  }

  int link_;
  int signals_;
  pid_t main_ = 0;
  bool terminating_ = false;
};

}  // namespace

void run_init(int link, const Program& program, int cgroup_fd, int error_fd) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, "teson-init");
  // A slave, not private: what the host mounts later is still seen here, and ours is never seen there.
  if (::mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0 ||
      ::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
    const InitMessage message{.kind = InitMessage::kNoNamespace, .value = errno};
    ::send(link, &message, sizeof message, MSG_NOSIGNAL);
    ::_exit(1);
  }
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  Init init(link, ::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  init.start(program, cgroup_fd, error_fd);
  init.serve();
  ::_exit(0);
}

}  // namespace teson
