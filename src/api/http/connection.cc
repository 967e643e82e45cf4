#include "api/http/connection.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <iterator>

namespace teson::http {
namespace {

constexpr size_t kReadBytes = 16 * 1024;
constexpr size_t kBodyReadBytes = 64 * 1024;
constexpr Duration kLingerTime = Duration::seconds(2);
constexpr size_t kLingerBytes = 64 * 1024 * 1024;

// Suspends the coroutine until the slot is ready, whoever makes it so.
struct WaitForReply {
  ReplySlot* slot;
  asio::ip::tcp::socket::executor_type executor;

  template <class Handler>
  void operator()(Handler&& handler) const {
    // std::function must be copyable and asio's handler is not.
    auto shared = std::make_shared<std::decay_t<Handler>>(std::forward<Handler>(handler));
    slot->when_ready([shared, to = executor] {
      asio::post(to, [shared] {
        auto resume = std::move(*shared);
        resume();
      });
    });
  }
};

// A header value that came from anywhere must not be able to end its line.
void append_field(std::string& out, std::string_view name, std::string_view value) {
  const auto printable = [](char c) { return static_cast<uint8_t>(c) < 0x20 || c == 0x7F ? ' ' : c; };
  std::transform(name.begin(), name.end(), std::back_inserter(out), printable);
  out += ": ";
  std::transform(value.begin(), value.end(), std::back_inserter(out), printable);
  out += "\r\n";
}

bool has_body(int status) { return status != 204 && status != 304; }

}  // namespace

Connection::Connection(Worker& worker, asio::ip::tcp::socket socket)
    : worker_(worker),
      socket_(std::move(socket)),
      parser_(ParserLimits{worker.options().header_bytes, worker.options().body_bytes}),
      buffer_(kReadBytes) {}

asio::awaitable<void> Connection::run(std::shared_ptr<Connection> self) {
  // Here and not in the constructor: that may run on the acceptor's thread.
  self->worker_.add(self.get());
  struct Leave {
    Connection* connection;
    ~Leave() { connection->worker_.remove(connection); }
  } const leave{self.get()};
  error_code error;
  const asio::ip::tcp::endpoint peer = self->socket_.remote_endpoint(error);
  if (error) co_return;
  const std::string host = peer.address().to_string();
  self->remote_ =
      peer.address().is_v6() ? fmt::format("[{}]:{}", host, peer.port()) : fmt::format("{}:{}", host, peer.port());
  self->socket_.set_option(asio::ip::tcp::no_delay(true), error);
  const std::shared_ptr<Tls>& tls = self->worker_.options().tls;
  if (!tls || co_await self->begin_tls(*tls)) co_await self->serve();
  self->socket_.close(error);
}

// False: the connection is done with.
asio::awaitable<bool> Connection::begin_tls(const Tls& tls) {
  static constexpr std::string_view kSpeakTls =
      "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 46\r\nConnection: close\r\n\r\n"
      "This port speaks TLS: use https://, not http.\n";
  if (aborted_ || worker_.draining()) co_return false;
  enter(Phase::kHandshake, worker_.options().handshake_timeout);
  tls_ = std::make_unique<TlsStream>(socket_, tls);
  error_code error;
  co_await tls_->handshake(error);
  if (!error) co_return true;
  tls_ = nullptr;
  spdlog::debug("TLS with {}: {}", remote_, error.message());
  if (!TlsStream::was_plain_http(error)) co_return false;
  co_await asio::async_write(socket_, asio::buffer(kSpeakTls.data(), kSpeakTls.size()),
                             asio::redirect_error(asio::use_awaitable, error));
  co_await linger();
  co_return false;
}

asio::awaitable<void> Connection::serve() {
  for (;;) {
    const ReadEnd end = co_await read_request();
    if (end == ReadEnd::kClosed) co_return;
    Response response;
    bool is_head = false;
    if (end == ReadEnd::kRefused) {
      response = std::move(refusal_);
      keep_alive_ = false;
    } else {
      keep_alive_ = parser_.keep_alive();
      Request request = parser_.take();
      is_head = request.method == "HEAD";
      slot_ = std::make_shared<ReplySlot>();
      response = co_await answer(std::move(request), slot_);
      slot_ = nullptr;
    }
    if (aborted_ || worker_.draining()) keep_alive_ = false;
    if (!co_await write(std::move(response), is_head)) co_return;
    if (!keep_alive_) break;
  }
  co_await linger();
}

asio::awaitable<Connection::ReadEnd> Connection::read_request() {
  if (aborted_) co_return ReadEnd::kClosed;
  enter(unread().empty() ? Phase::kIdle : Phase::kHead,
        unread().empty() ? worker_.options().idle_timeout : worker_.options().header_timeout);
  request_id_ = worker_.next_request_id();
  body_received_ = 0;
  bool continued = false;
  for (;;) {
    if (phase_ == Phase::kIdle && worker_.draining()) co_return ReadEnd::kClosed;
    if (!unread().empty() || parser_.head_done()) {
      if (phase_ == Phase::kIdle) enter(Phase::kHead, worker_.options().header_timeout);
      const std::expected<size_t, ParseError> used = parser_.put(unread());
      if (!used) {
        const int status = used.error().status;
        refuse(status, status == 413 ? "RequestEntityTooLarge" : "MalformedHttpRequestException", used.error().message);
        co_return ReadEnd::kRefused;
      }
      begin_ += *used;
      if (parser_.done()) co_return ReadEnd::kRequest;
      if (parser_.head_done()) {
        if (phase_ != Phase::kBody) enter(Phase::kBody, worker_.options().transfer_timeout);
        body_received_ += *used;
        deadline_ = phase_start_ + std::chrono::microseconds(transfer_time(body_received_).micros);
        if (!continued && parser_.wants_continue()) {
          continued = true;
          if (unread().empty() && !co_await send_continue()) co_return ReadEnd::kClosed;
        }
        if (*used > 0 && !unread().empty()) continue;
        // The parser wants more of a chunk's header line or of the trailers: these have no limit in its own code.
        if (unread().size() > worker_.options().header_bytes + kBodyReadBytes) {
          refuse(431, "MalformedHttpRequestException", "A chunk's header or the trailers are too large.");
          co_return ReadEnd::kRefused;
        }
      }
    }
    if (co_await read_more()) continue;
    if (aborted_ || !expired_ || phase_ == Phase::kIdle) co_return ReadEnd::kClosed;
    refuse(408, "RequestTimeout", "The request did not arrive in time.");
    co_return ReadEnd::kRefused;
  }
}

// False at the end of the stream, on a failure and when the deadline passed.
asio::awaitable<bool> Connection::read_more() {
  if (begin_ == end_) begin_ = end_ = 0;
  const size_t wanted = phase_ == Phase::kBody ? kBodyReadBytes : kReadBytes;
  if (buffer_.size() < wanted) buffer_.resize(wanted);
  if (end_ == buffer_.size() && begin_ > 0) {
    std::copy(buffer_.begin() + static_cast<ptrdiff_t>(begin_), buffer_.begin() + static_cast<ptrdiff_t>(end_),
              buffer_.begin());
    end_ -= begin_;
    begin_ = 0;
  }
  // The parser refuses heads over its limit, so this stops at about twice that.
  if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
  error_code error;
  const asio::mutable_buffer room(buffer_.data() + end_, buffer_.size() - end_);
  size_t got = 0;
  if (tls_) {
    got = co_await tls_->read_some(room, error);
  } else {
    got = co_await socket_.async_read_some(room, asio::redirect_error(asio::use_awaitable, error));
  }
  end_ += got;
  if (!error) expired_ = false;  // it came just before the deadline did
  co_return !error;
}

asio::awaitable<bool> Connection::send_continue() {
  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  co_return co_await write_all({asio::buffer(kContinue.data(), kContinue.size()), asio::const_buffer()});
}

asio::awaitable<Response> Connection::answer(Request request, std::shared_ptr<ReplySlot> slot) {
  enter(Phase::kHandling, {});
  request.remote = remote_;
  request.request_id = request_id_;
  Request asked;  // what an error answer needs, as the handler takes the request itself
  asked.protocol = guess_protocol(request.headers);
  asked.request_id = request_id_;
  asked.path = request.path;
  try {
    worker_.handler().handle(std::move(request), ReplySlot::reply_for(slot));
  } catch (const std::exception& error) {
    spdlog::error("request {} {}: {}", request_id_, asked.path, error.what());
    slot->abandon();
  }
  if (!slot->ready()) {
    co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(
        WaitForReply{slot.get(), socket_.get_executor()}, asio::use_awaitable);
  }
  std::optional<Response> response = slot->take();
  if (response) co_return std::move(*response);
  co_return error_response(asked,
                           aborted_ ? wire::server_error("ServiceUnavailableException", "The server is stopping.", 503)
                                    : wire::server_error("InternalFailure", "The request was not answered.", 500));
}

asio::awaitable<bool> Connection::write(Response response, bool is_head) {
  enter(Phase::kWriting, transfer_time(response.body.size()));
  build_head(response, keep_alive_);
  const bool with_body = !is_head && has_body(response.status);
  const bool joined = tls_ && with_body && response.body.size() <= TlsStream::kOneRecord;
  if (joined) head_ += response.body;
  co_return co_await write_all(
      {asio::buffer(head_), with_body && !joined ? asio::buffer(response.body) : asio::const_buffer()});
}

asio::awaitable<bool> Connection::write_all(std::array<asio::const_buffer, 2> parts) {
  error_code error;
  if (tls_) {
    co_await tls_->write(parts, error);
  } else {
    co_await asio::async_write(socket_, parts, asio::redirect_error(asio::use_awaitable, error));
  }
  co_return !error;
}

// Closing at once while the client still sends would reset the connection and lose our answer on its way.
asio::awaitable<void> Connection::linger() {
  error_code error;
  enter(Phase::kLingering, kLingerTime);
  if (tls_ && !aborted_) {
    co_await tls_->shutdown(error);
    tls_ = nullptr;  // what still comes is thrown away as it is
    if (expired_) co_return;
  }
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, error);
  if (error || aborted_) co_return;
  for (size_t discarded = 0; discarded < kLingerBytes;) {
    begin_ = end_ = 0;
    if (!co_await read_more()) co_return;
    discarded += end_;
  }
}

void Connection::enter(Phase phase, Duration allowed) {
  phase_ = phase;
  phase_start_ = Clock::now();
  deadline_ = phase_start_ + std::chrono::microseconds(allowed.micros);
  expired_ = false;
}

Duration Connection::transfer_time(size_t bytes) const {
  const ServerOptions& options = worker_.options();
  return options.transfer_timeout + Duration::seconds(static_cast<int64_t>(bytes) / options.slowest_bytes_per_second);
}

void Connection::refuse(int status, std::string code, std::string message) {
  Request asked;
  asked.request_id = request_id_;
  asked.protocol = guess_protocol(parser_.request().headers);
  spdlog::debug("request {} from {} refused: {} {}", request_id_, remote_, status, message);
  refusal_ = error_response(asked, wire::client_error(std::move(code), std::move(message), status));
}

void Connection::build_head(const Response& response, bool keep_alive) {
  head_.clear();
  fmt::format_to(std::back_inserter(head_), "HTTP/1.1 {} {}\r\nx-amzn-RequestId: {}\r\nDate: {}\r\n", response.status,
                 reason_phrase(response.status), request_id_, worker_.date());
  for (const wire::Header& field : response.headers) append_field(head_, field.name, field.value);
  if (has_body(response.status))
    fmt::format_to(std::back_inserter(head_), "Content-Length: {}\r\n", response.body.size());
  head_ += keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
}

void Connection::expire(Clock::time_point now) {
  if (phase_ == Phase::kHandling || now < deadline_ || expired_) return;
  expired_ = true;
  error_code ignored;
  socket_.cancel(ignored);
}

void Connection::drain() {
  error_code ignored;
  if (phase_ == Phase::kIdle || phase_ == Phase::kHandshake) socket_.cancel(ignored);
}

void Connection::abort() {
  aborted_ = true;
  error_code ignored;
  socket_.cancel(ignored);
  if (slot_) slot_->abandon();
}

}  // namespace teson::http
