// TLS over a connection's socket: the only place, with tls.cc, that knows OpenSSL.
//
// Internal to src/api/http. Thread: the connection's. One operation at a time; cancelling the socket ends it.
#pragma once

#include <array>
#include <memory>

#include "api/http/tls.h"
#include "api/http/worker.h"

namespace teson::http {

class TlsStream {
 public:
  // What becomes one record together with its head rather than a record, and a packet, of its own.
  static constexpr size_t kOneRecord = 16 * 1024;

  // Does not own the socket, which must outlive it.
  TlsStream(asio::ip::tcp::socket& socket, const Tls& tls);
  ~TlsStream();

  asio::awaitable<void> handshake(error_code& error);
  asio::awaitable<size_t> read_some(asio::mutable_buffer buffer, error_code& error);
  asio::awaitable<void> write(std::array<asio::const_buffer, 2> parts, error_code& error);
  // Says that no more will come, and waits for the other side to say so too.
  asio::awaitable<void> shutdown(error_code& error);

  // A handshake that failed because the other side spoke plain HTTP.
  static bool was_plain_http(const error_code& error);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace teson::http
