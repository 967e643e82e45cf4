// What the launcher and its nursery (agent/nursery.h) say to each other over a SOCK_SEQPACKET pair, one request at a
// time:
//
//   request   the attempt's directory, and the descriptor of its lock, already locked
//   reply     NurseryReply, and the new agent's pidfd if there is one
//
// Both ends are one program of one build. Any thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>

#include "base/owned_fd.h"

namespace teson {

// The longest directory in a request: Linux takes no longer path.
inline constexpr size_t kLongestNurseryRequest = 4096;

struct NurseryReply {
  int32_t pid = 0;    // 0: no agent was forked
  int32_t error = 0;  // errno, why not
};

struct Passed {
  ssize_t size = -1;  // -1: errno says why; 0: the other end is gone
  OwnedFd descriptor;
};

// `descriptor` -1: none. False: errno says why; nothing was sent.
bool pass(int socket, std::string_view bytes, int descriptor);
// Blocks, as long as the socket does.
Passed take_passed(int socket, char* buffer, size_t size);

}  // namespace teson
