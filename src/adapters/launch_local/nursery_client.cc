#include "adapters/launch_local/nursery_client.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>

#include "adapters/launch_local/clocks.h"
#include "attempt_dir/nursery_link.h"

namespace teson {
namespace {

// After failures in a row a start costs more than it brings: 1, 2, 4 ... seconds without.
constexpr int kLongestPauseExponent = 6;

}  // namespace

NurseryClient::NurseryClient(std::string program, size_t longest_directory, Duration patience)
    : program_(std::move(program)), title_room_(longest_directory, '-'), patience_(patience) {}

bool NurseryClient::start() {
  if (link_) return true;
  if (launch_monotonic_now() < retry_at_) return false;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
  OwnedFd ours(ends[0]);
  const OwnedFd theirs(ends[1]);
  // A fork takes less than a millisecond; this is for a nursery that somebody suspended.
  const timeval patience = {.tv_sec = patience_.micros / 1'000'000, .tv_usec = patience_.micros % 1'000'000};
  for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO}) {
    ::setsockopt(ours.get(), SOL_SOCKET, option, &patience, sizeof patience);
  }
  auto spawned =
      spawn_detached(program_, {"teson", "agent-nursery", std::to_string(kInheritedFd), title_room_}, theirs.get());
  if (!spawned) return false;
  nursery_ = std::move(*spawned);
  link_ = std::move(ours);
  return true;
}

void NurseryClient::end() {
  link_.reset();
  if (nursery_.pid == 0) return;
  // Killed and not merely left to end: when this returns it holds no lock that was passed to it. Ours to reap, so the
  // number is still its own.
  ::kill(nursery_.pid, SIGKILL);
  while (::waitpid(nursery_.pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  nursery_ = {};
}

std::expected<Spawned, NurseryClient::Miss> NurseryClient::fail(Miss miss) {
  if (failures_ > 0)
    retry_at_ = launch_monotonic_now() + Duration::seconds(1 << std::min(failures_ - 1, kLongestPauseExponent));
  ++failures_;
  return std::unexpected(miss);
}

std::expected<Spawned, NurseryClient::Miss> NurseryClient::fork_agent(const std::string& directory, int lock) {
  if (directory.size() > kLongestNurseryRequest || !start()) return std::unexpected(Miss::kNone);
  if (!pass(link_.get(), directory, lock)) {
    end();
    return fail(Miss::kUnknown);
  }
  NurseryReply reply;
  Passed answer = take_passed(link_.get(), reinterpret_cast<char*>(&reply), sizeof reply);
  if (answer.size != sizeof reply) {
    end();
    return fail(Miss::kUnknown);
  }
  if (reply.pid > 0) {
    failures_ = 0;
    return Spawned{.pid = reply.pid, .process = std::move(answer.descriptor)};
  }
  if (reply.error == EAGAIN || reply.error == ENOMEM) return std::unexpected(Miss::kNoMemory);
  end();
  return fail(Miss::kNone);
}

}  // namespace teson
