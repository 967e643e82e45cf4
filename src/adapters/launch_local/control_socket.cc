#include "adapters/launch_local/control_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <charconv>
#include <cstring>

#include "attempt_dir/paths.h"
#include "base/file_kind.h"

namespace teson {

SocketAddress::SocketAddress(const std::string& directory, const char* name)
    : folder_(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
  address_.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}/{}", folder_.get(), name);
  std::strncpy(address_.sun_path, path.c_str(), sizeof address_.sun_path - 1);
}

// The socket of a launcher that was killed lasts as long as a process that it was starting at that moment takes to
// begin.
static bool somebody_listens(const SocketAddress& address) {
  constexpr int kTries = 100;
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 20'000'000};
  for (int i = 0; i < kTries; ++i) {
    const OwnedFd probe(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (::connect(probe.get(), address.get(), SocketAddress::size()) != 0) return false;
    ::nanosleep(&kPause, nullptr);
  }
  return true;
}

Result<OwnedFd> open_control_socket(const std::string& data_directory) {
  OwnedFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return errno_error("cannot make a socket");
  const SocketAddress address(data_directory, kControlSocket);
  const std::string path = data_directory + "/" + kControlSocket;
  // Only a socket is one that a dead server left; anything else is somebody's.
  if (const std::string_view kind = file_kind_at(path); !kind.empty() && kind != file_kind(S_IFSOCK)) {
    return invalid(
        fmt::format("{} is {}, but the server has its control socket there: move it away, or choose another data "
                    "directory with --data",
                    path, kind));
  }
  if (somebody_listens(address)) {
    return conflict("another server uses the data directory " + data_directory +
                    ": stop it, or choose another with --data");
  }
  ::unlink(path.c_str());
  if (::bind(socket.get(), address.get(), SocketAddress::size()) != 0) return errno_error("cannot listen on " + path);
  return socket;
}

std::optional<AttemptId> parse_attempt_id(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto job = JobId::parse(text.substr(0, slash));
  int number = 0;
  const auto [end, error] = std::from_chars(text.data() + slash + 1, text.data() + text.size(), number);
  if (!job || error != std::errc() || end != text.data() + text.size() || number < 1) return std::nullopt;
  return AttemptId{*job, number};
}

}  // namespace teson
