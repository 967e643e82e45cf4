// The HTTP/1.1 server: sockets, threads, time-outs and limits. What is asked goes to one Handler (usually a Router).
//
// Thread: start() and stop() belong to the owner; handlers run on the server's threads (http.h). Each connection lives
// on one thread, requests on it are answered in their order, one at a time.
// Limits: ServerOptions. What exceeds them gets 413, 431, 408 or 503 in AWS's shape, then the connection closes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "api/http/http.h"
#include "api/http/tls.h"
#include "base/result.h"
#include "base/time.h"

namespace teson::http {

struct ServerOptions {
  std::string host = "127.0.0.1";  // an address or a name; "[::1]" and "::1" alike
  uint16_t port = 8790;            // 0: any free one, see Server::port()
  std::shared_ptr<Tls> tls;        // null: plain HTTP
  int threads = 2;
  int max_connections = 1024;  // more are told 503 and closed
  uint32_t header_bytes = 64 * 1024;
  uint64_t body_bytes = 8 * 1024 * 1024;
  Duration idle_timeout = Duration::seconds(75);       // between requests; closes without a word
  Duration handshake_timeout = Duration::seconds(10);  // TLS: from the connection on
  Duration header_timeout = Duration::seconds(15);     // from a request's first byte to the end of its head
  // For a body or a response this long, plus the time its bytes take at slowest_bytes_per_second.
  Duration transfer_timeout = Duration::seconds(30);
  int64_t slowest_bytes_per_second = 16 * 1024;
};

class Server {
 public:
  // Listens and serves, or says why not: the address in use, not of this machine, or not permitted. `handler` must
  // outlive the server.
  static Result<std::unique_ptr<Server>> start(ServerOptions options, Handler& handler);
  // stop() with no patience.
  ~Server();

  uint16_t port() const;
  // "127.0.0.1:8790", "[::1]:8790".
  std::string address() const;

  // No new connections; idle ones close; requests in flight may be answered for up to `patience`, then those left get
  // 503. Returns when every thread has ended. Not to be called from a handler. A second call does nothing.
  void stop(Duration patience);

  struct Impl;

 private:
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace teson::http
