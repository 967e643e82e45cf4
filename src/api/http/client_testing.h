// A blocking TCP client for the tests: raw bytes out, responses in. Every wait has a deadline.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/headers.h"
#include "wire/sigv4.h"

namespace teson::http {

inline constexpr std::string_view kTestKey = "AKIDTEST";
inline constexpr std::string_view kTestSecret = "test/secret+value";

struct RawResponse {
  int status = 0;
  wire::Headers headers;
  std::string body;
};

class RawClient {
 public:
  // Connects to 127.0.0.1:port.
  explicit RawClient(uint16_t port);
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient();

  // False if the other side has closed.
  bool send(std::string_view bytes);
  // The next response, or nothing if the connection ended or `seconds` passed first.
  std::optional<RawResponse> receive(bool to_head = false, int seconds = 10);
  // Whether the server closes without sending another byte within `seconds`.
  bool closed(int seconds = 10);
  // Sends FIN; the answer can still be read.
  void finish_sending();

 private:
  // Reads once into buffer_; false at the end, on an error or after the deadline.
  bool fill(int seconds);

  int fd_ = -1;
  std::string buffer_;
};

Instant wall_now();

// A signed request, ready to send.
std::string signed_request(std::string_view method, std::string_view target, std::string_view body,
                           wire::Headers headers = {}, std::optional<Instant> when = std::nullopt,
                           std::string_view secret = kTestSecret);

}  // namespace teson::http
