#include "attempt_dir/nursery_link.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace teson {
namespace {

union ControlSpace {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

}  // namespace

bool pass(int socket, std::string_view bytes, int descriptor) {
  iovec data{.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  ControlSpace control{};
  if (descriptor >= 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  ssize_t n;
  do {
    n = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (n < 0 && errno == EINTR);
  return n >= 0;
}

Passed take_passed(int socket, char* buffer, size_t size) {
  iovec data{.iov_base = buffer, .iov_len = size};
  ControlSpace control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  Passed passed;
  do {
    passed.size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (passed.size < 0 && errno == EINTR);
  const cmsghdr* header = passed.size > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
    int descriptor;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    passed.descriptor.reset(descriptor);
  }
  return passed;
}

}  // namespace teson
