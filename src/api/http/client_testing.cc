#include "api/http/client_testing.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>

#include "base/check.h"

namespace teson::http {

RawClient::RawClient(uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  TESON_CHECK(fd_ >= 0, "no socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    ::close(fd_);
    fd_ = -1;
  }
}

RawClient::~RawClient() {
  if (fd_ >= 0) ::close(fd_);
}

bool RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

bool RawClient::fill(int seconds) {
  pollfd wait{fd_, POLLIN, 0};
  if (::poll(&wait, 1, seconds * 1000) != 1) return false;
  char block[64 * 1024];
  const ssize_t got = ::recv(fd_, block, sizeof(block), 0);
  if (got <= 0) return false;
  buffer_.append(block, static_cast<size_t>(got));
  return true;
}

std::optional<RawResponse> RawClient::receive(bool to_head, int seconds) {
  size_t end = 0;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (!fill(seconds)) return std::nullopt;
  }
  RawResponse response;
  std::string_view head = std::string_view(buffer_).substr(0, end);
  response.status = std::atoi(std::string(head.substr(9, 3)).c_str());
  while (head.find("\r\n") != std::string_view::npos) {
    head.remove_prefix(head.find("\r\n") + 2);
    const std::string_view line = head.substr(0, head.find("\r\n"));
    const size_t colon = line.find(':');
    response.headers.add(std::string(line.substr(0, colon)), std::string(wire::trimmed(line.substr(colon + 1))));
  }
  const std::string length(response.headers.get("content-length"));
  const size_t wanted = to_head || length.empty() ? 0 : std::stoul(length);
  while (buffer_.size() < end + 4 + wanted) {
    if (!fill(seconds)) return std::nullopt;
  }
  response.body = buffer_.substr(end + 4, wanted);
  buffer_.erase(0, end + 4 + wanted);
  return response;
}

bool RawClient::closed(int seconds) {
  if (!buffer_.empty()) return false;
  pollfd wait{fd_, POLLIN, 0};
  if (::poll(&wait, 1, seconds * 1000) != 1) return false;
  char byte = 0;
  return ::recv(fd_, &byte, 1, 0) <= 0;
}

void RawClient::finish_sending() { ::shutdown(fd_, SHUT_WR); }

Instant wall_now() {
  return Instant{
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count()};
}

std::string signed_request(std::string_view method, std::string_view target, std::string_view body,
                           wire::Headers headers, std::optional<Instant> when, std::string_view secret) {
  const size_t question = std::min(target.find('?'), target.size());
  headers.set("Host", "127.0.0.1");
  const wire::RequestView view{method, target.substr(0, question), target.substr(std::min(question + 1, target.size())),
                               headers, body};
  const wire::Headers added = wire::sign(view, {kTestKey, secret, "", "us-east-1", "batch"}, when.value_or(wall_now()));
  std::string out = fmt::format("{} {} HTTP/1.1\r\n", method, target);
  for (const wire::Headers* part : {static_cast<const wire::Headers*>(&headers), &added}) {
    for (const wire::Header& field : *part) out += fmt::format("{}: {}\r\n", field.name, field.value);
  }
  return out + fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body);
}

}  // namespace teson::http
