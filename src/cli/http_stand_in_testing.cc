#include "cli/http_stand_in_testing.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "base/check.h"

namespace teson::cli {
namespace {

// Adds to `bytes` what has come; false at the end of the connection or of the server.
bool receive(int fd, std::string& bytes, const std::atomic<bool>& ending) {
  while (!ending) {
    pollfd ready{fd, POLLIN, 0};
    if (::poll(&ready, 1, 20) <= 0) continue;
    char buffer[65536];
    const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
    if (got <= 0) return false;
    bytes.append(buffer, static_cast<size_t>(got));
    return true;
  }
  return false;
}

// Takes one whole request off `bytes`, if there is one.
std::optional<StandInRequest> take_request(std::string& bytes) {
  const size_t head_end = bytes.find("\r\n\r\n");
  if (head_end == std::string::npos) return std::nullopt;
  StandInRequest request;
  std::string_view head(bytes.data(), head_end);
  const std::string_view first = head.substr(0, head.find("\r\n"));
  request.method = first.substr(0, first.find(' '));
  request.path = first.substr(request.method.size() + 1, first.rfind(' ') - request.method.size() - 1);
  head.remove_prefix(first.size());
  while (head.starts_with("\r\n")) {
    head.remove_prefix(2);
    const std::string_view line = head.substr(0, head.find("\r\n"));
    const size_t colon = line.find(':');
    request.headers.add(std::string(line.substr(0, colon)), std::string(wire::trimmed(line.substr(colon + 1))));
    head.remove_prefix(line.size());
  }
  const size_t length = std::strtoul(std::string(request.headers.get("content-length")).c_str(), nullptr, 10);
  if (bytes.size() < head_end + 4 + length) return std::nullopt;
  request.body = bytes.substr(head_end + 4, length);
  bytes.erase(0, head_end + 4 + length);
  return request;
}

}  // namespace

HttpStandIn::HttpStandIn(Handler handler) : handler_(std::move(handler)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  TESON_CHECK(::bind(listener_, generic, size) == 0 && ::listen(listener_, 8) == 0, "no port for the stand-in");
  TESON_CHECK(::getsockname(listener_, generic, &size) == 0, "the stand-in's port is unknown");
  port_ = ntohs(address.sin_port);
}

HttpStandIn::~HttpStandIn() {
  ending_ = true;
  if (thread_.joinable()) thread_.join();
  ::close(listener_);
}

std::string HttpStandIn::endpoint() {
  if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
  return fmt::format("http://127.0.0.1:{}", port_);
}

std::vector<StandInRequest> HttpStandIn::requests() const {
  const std::scoped_lock lock(mutex_);
  return requests_;
}

void HttpStandIn::serve() {
  while (!ending_) {
    pollfd ready{listener_, POLLIN, 0};
    if (::poll(&ready, 1, 20) <= 0) continue;
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    ++connections_;
    serve_connection(fd);
    ::close(fd);
  }
}

void HttpStandIn::serve_connection(int fd) {
  std::string bytes;
  while (true) {
    const auto request = take_request(bytes);
    if (!request) {
      if (!receive(fd, bytes, ending_)) return;
      continue;
    }
    StandInAnswer answer;
    {
      const std::scoped_lock lock(mutex_);
      requests_.push_back(*request);
      answer = handler_(*request);
    }
    if (answer.hang_up) return;
    std::string text = fmt::format("HTTP/1.1 {} X\r\ncontent-length: {}\r\n", answer.status, answer.body.size());
    for (const wire::Header& header : answer.headers) text += header.name + ": " + header.value + "\r\n";
    text += "\r\n" + answer.body;
    for (size_t sent = 0; sent < text.size();) {
      const ssize_t put = ::send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (put <= 0) return;
      sent += static_cast<size_t>(put);
    }
  }
}

}  // namespace teson::cli
