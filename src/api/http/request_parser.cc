#include "api/http/request_parser.h"

#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

namespace teson::http {
namespace {

namespace beast_http = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;

constexpr size_t kShortestLastChunk = 5;

std::string_view std_view(string_view text) { return {text.data(), text.size()}; }

// Fills a Request straight from the parser's events, without Beast's own message type in between.
// The body's limit is kept here: Beast 1.74 counts a chunk's size anew each time it meets the same unfinished chunk
// header, and so refuses bodies that are small enough.
class Reader final : public beast_http::basic_parser<true> {
 public:
  explicit Reader(uint64_t body_limit_bytes) : body_limit_bytes_(body_limit_bytes) { body_limit(UINT64_MAX); }

  Request request;
  std::string target_error;
  int version = 0;

 private:
  void on_request_impl(beast_http::verb, string_view method, string_view target, int http_version,
                       error_code&) override {
    version = http_version;
    request.method = std_view(method);
    if (Status status = set_target(request, std_view(target)); !status) target_error = status.error().message;
  }
  void on_response_impl(int, string_view, int, error_code&) override {}
  void on_field_impl(beast_http::field, string_view name, string_view value, error_code&) override {
    if (is_header_done()) return;  // trailers: no signature covers them
    request.headers.add(std::string(std_view(name)), std::string(std_view(value)));
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<uint64_t>& length, error_code&) override {
    if (length) request.body.reserve(std::min<uint64_t>(*length, 64 * 1024));
  }
  size_t on_body_impl(string_view bytes, error_code& error) override { return append(bytes, error); }
  void on_chunk_header_impl(uint64_t size, string_view, error_code& error) override { check_room(size, error); }
  size_t on_chunk_body_impl(uint64_t, string_view bytes, error_code& error) override { return append(bytes, error); }
  void on_finish_impl(error_code&) override {}

  void check_room(uint64_t more, error_code& error) const {
    if (more > body_limit_bytes_ - request.body.size()) error = beast_http::error::body_limit;
  }
  size_t append(string_view bytes, error_code& error) {
    check_room(bytes.size(), error);
    if (error) return 0;
    request.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }

  const uint64_t body_limit_bytes_;
};

ParseError parse_error(const error_code& error, const ParserLimits& limits) {
  if (error == beast_http::error::body_limit) {
    return {413, fmt::format("The request body is larger than the {} bytes accepted.", limits.body_bytes)};
  }
  if (error == beast_http::error::header_limit) {
    return {431, fmt::format("The request's headers are larger than the {} bytes accepted.", limits.header_bytes)};
  }
  return {400, fmt::format("The request is not valid HTTP/1.1: {}.", error.message())};
}

// Two readers may unfold such a line differently: RFC 9112, 5.2, lets a server refuse it.
bool has_folded_line(std::string_view head) {
  return head.find("\n ") != std::string_view::npos || head.find("\n\t") != std::string_view::npos;
}

// What RFC 9112 asks of a server beyond the grammar.
std::optional<ParseError> check_head(const Reader& reader, const ParserLimits& limits) {
  if (!reader.target_error.empty()) return ParseError{400, reader.target_error};
  const wire::Headers& headers = reader.request.headers;
  if (headers.count("host") > 1) return ParseError{400, "The request has more than one Host header."};
  if (headers.count("host") == 0 && reader.version >= 11) return ParseError{400, "The request has no Host header."};
  if (headers.count("content-length") > 0 && headers.count("transfer-encoding") > 0) {
    return ParseError{400, "The request has both Content-Length and Transfer-Encoding."};
  }
  if (headers.count("transfer-encoding") > 0 && !reader.chunked()) {
    return ParseError{501, "The only Transfer-Encoding understood is 'chunked'."};
  }
  // Before anything of the body is awaited, or asked for with "100 Continue".
  const auto length = reader.content_length();
  if (length && *length > limits.body_bytes) return parse_error(beast_http::error::body_limit, limits);
  return std::nullopt;
}

}  // namespace

struct RequestParser::State {
  explicit State(const ParserLimits& limits) : reader(limits.body_bytes) { reader.header_limit(limits.header_bytes); }
  Reader reader;
  bool head_checked = false;
  size_t head_bytes = 0;
};

RequestParser::RequestParser(ParserLimits limits) : limits_(limits), state_(std::make_unique<State>(limits)) {}
RequestParser::~RequestParser() = default;
RequestParser::RequestParser(RequestParser&&) noexcept = default;
RequestParser& RequestParser::operator=(RequestParser&&) noexcept = default;

std::expected<size_t, ParseError> RequestParser::put(std::string_view bytes) {
  Reader& reader = state_->reader;
  size_t used = 0;
  while (used < bytes.size() && !reader.is_done()) {
    // Beast 1.74 takes for granted that it is not called again with a last chunk of four bytes; no chunk with what must
    // follow it is shorter than "0\r\n\r\n".
    if (reader.is_header_done() && reader.chunked() && bytes.size() - used < kShortestLastChunk) break;
    error_code error;
    const size_t taken = reader.put(boost::asio::buffer(bytes.data() + used, bytes.size() - used), error);
    used += taken;
    if (!state_->head_checked) {
      state_->head_bytes += taken;
      if (has_folded_line(bytes.substr(used - taken, taken))) {
        return std::unexpected(
            ParseError{400, "The request has a folded header line, which HTTP/1.1 no longer knows."});
      }
    }
    if (state_->head_bytes > limits_.header_bytes) error = beast_http::error::header_limit;
    if (error && error != beast_http::error::need_more) return std::unexpected(parse_error(error, limits_));
    if (reader.is_header_done() && !state_->head_checked) {
      state_->head_checked = true;
      if (auto refused = check_head(reader, limits_)) return std::unexpected(std::move(*refused));
      return used;
    }
    if (error || taken == 0) break;
  }
  return used;
}

bool RequestParser::started() const { return state_->reader.got_some(); }
bool RequestParser::head_done() const { return state_->reader.is_header_done(); }
bool RequestParser::done() const { return state_->reader.is_done(); }
bool RequestParser::keep_alive() const { return state_->reader.keep_alive(); }

bool RequestParser::wants_continue() const {
  return !done() && wire::equal_ignoring_case(request().headers.get("expect"), "100-continue");
}

const Request& RequestParser::request() const { return state_->reader.request; }

Request RequestParser::take() {
  Request out = std::move(state_->reader.request);
  state_ = std::make_unique<State>(limits_);
  return out;
}

}  // namespace teson::http
