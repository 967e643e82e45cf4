// Bytes to Request, in any slicing, within limits. The only place where an HTTP grammar is read.
//
// Thread: one at a time. Built on Boost.Beast's parser, which stays inside the .cc. Failure: a ParseError with the
// status to answer; the connection must then be closed, as nobody knows where the next request starts.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "api/http/http.h"

namespace teson::http {

struct ParserLimits {
  uint32_t header_bytes = 64 * 1024;
  uint64_t body_bytes = 8 * 1024 * 1024;
};

struct ParseError {
  int status = 400;     // 400, 413, 431, 501
  std::string message;  // for the client
};

class RequestParser {
 public:
  explicit RequestParser(ParserLimits limits);
  ~RequestParser();
  RequestParser(RequestParser&&) noexcept;
  RequestParser& operator=(RequestParser&&) noexcept;

  // Takes what it can from the front of `bytes` and says how much; the caller keeps the rest and calls again with more
  // added. Stops at the end of the head (so that the caller can answer Expect: 100-continue) and at the end of the
  // request: bytes after it belong to the next one. Call again at once after the head even if nothing new arrived.
  std::expected<size_t, ParseError> put(std::string_view bytes);

  bool started() const;  // a first byte has been seen
  bool head_done() const;
  bool done() const;
  bool wants_continue() const;  // the client waits for 100 before it sends the body
  bool keep_alive() const;      // valid once head_done()

  // What was read so far; for the protocol of an error answer.
  const Request& request() const;
  // The finished request; the parser is then ready for the next one.
  Request take();

 private:
  struct State;
  ParserLimits limits_;
  std::unique_ptr<State> state_;
};

}  // namespace teson::http
