// Datagram sockets in the data directory: the server's own, where agents say "look at this attempt", and theirs.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/owned_fd.h"
#include "base/result.h"
#include "domain/ids.h"

namespace teson {

// A socket address has room for 108 bytes: name it through an open directory instead.
class SocketAddress {
 public:
  SocketAddress(const std::string& directory, const char* name);

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address_); }
  static constexpr socklen_t size() { return sizeof(sockaddr_un); }

 private:
  OwnedFd folder_;  // the address is good while this is open
  sockaddr_un address_{};
};

// Binds <data>/control.sock, replacing one that a dead server left. kConflict: a living server listens there. kInvalid:
// something else than a socket lies there; it is left alone.
Result<OwnedFd> open_control_socket(const std::string& data_directory);

// "<job>/<n>", as agents send it; anything else is nullopt.
std::optional<AttemptId> parse_attempt_id(std::string_view text);

}  // namespace teson
