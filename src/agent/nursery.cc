#include "agent/nursery.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "agent/agent.h"
#include "agent/cgroup.h"
#include "agent/process_tree.h"
#include "attempt_dir/lock.h"
#include "attempt_dir/nursery_link.h"

namespace teson {
namespace {

constexpr int kBadUse = 2;

// The memory that /proc/PID/cmdline shows: from the first word on, as far as words follow each other.
class ProcessTitle {
 public:
  ProcessTitle(int argc, char** argv) : begin_(argv[0]), end_(begin_ + std::strlen(begin_) + 1) {
    for (int i = 1; i < argc && argv[i] == end_; ++i) end_ += std::strlen(argv[i]) + 1;
  }

  // `words` with NULs between them.
  void show(std::string_view words) {
    const size_t size = std::min(words.size(), static_cast<size_t>(end_ - begin_) - 1);
    std::memcpy(begin_, words.data(), size);
    std::fill(begin_ + size, end_, '\0');
    // Needs a right that not every user has: without it empty words are seen behind.
    ::prctl(PR_SET_MM, PR_SET_MM_ARG_END, reinterpret_cast<unsigned long>(begin_ + size + 1), 0, 0);
  }

 private:
  char* begin_;
  char* end_;
};

std::string words_of_agent(std::string_view directory) {
  std::string words("teson\0agent\0", 12);
  return words.append(directory);
}

[[noreturn]] void live_as_agent(ProcessTitle& title, const std::string& directory, OwnedFd lock) {
  // Named before it leads a session: who looks for the nursery takes no agent for it.
  ::prctl(PR_SET_NAME, "teson-agent");
  ::setsid();
  title.show(words_of_agent(directory));
  ::_exit(agent_main(directory, lock.release()));
}

}  // namespace

int nursery_command(int argc, char** argv) {
  if (argc < 1) return kBadUse;
  OwnedFd link(std::atoi(argv[0]));
  if (::fcntl(link.get(), F_SETFD, FD_CLOEXEC) != 0) return kBadUse;
  close_all_but(link.get());
  ::prctl(PR_SET_NAME, "teson-nursery");
  ProcessTitle title(argc + 2, argv - 2);
  title.show(std::string_view("teson\0agent-nursery", 19));
  // Once for all agents.
  (void)current_boot_id();
  char directory[kLongestNurseryRequest];
  for (;;) {
    Passed request = take_passed(link.get(), directory, sizeof directory);
    if (request.size <= 0) return 0;
    NurseryReply reply;
    OwnedFd process;
    if (request.descriptor) {
      remember_cgroup_mounts();
      const pid_t pid = fork_sibling(process);
      if (pid == 0) {
        link.reset();
        live_as_agent(title, {directory, static_cast<size_t>(request.size)}, std::move(request.descriptor));
      }
      if (pid > 0) reply.pid = pid;
      if (pid < 0) reply.error = -pid;
    } else {
      reply.error = EBADF;
    }
    request.descriptor.reset();
    if (!pass(link.get(), {reinterpret_cast<const char*>(&reply), sizeof reply}, process.get())) return 0;
  }
}

}  // namespace teson
