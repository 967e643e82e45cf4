// One client's connection: read a request, hand it over, wait for the answer, write it; again until either side ends.
//
// Internal to src/api/http. Thread: its worker's only. Owned by its coroutine; the worker knows it by address while it
// runs.
#pragma once

#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "api/http/reply_slot.h"
#include "api/http/request_parser.h"
#include "api/http/tls_stream.h"
#include "api/http/worker.h"

namespace teson::http {

class Connection {
 public:
  using Clock = std::chrono::steady_clock;

  Connection(Worker& worker, asio::ip::tcp::socket socket);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  static asio::awaitable<void> run(std::shared_ptr<Connection> self);

  const std::string& remote() const { return remote_; }
  // Cancels what takes longer than its deadline.
  void expire(Clock::time_point now);
  void drain();
  void abort();

 private:
  enum class Phase { kHandshake, kIdle, kHead, kBody, kHandling, kWriting, kLingering };
  enum class ReadEnd { kRequest, kClosed, kRefused };

  asio::awaitable<bool> begin_tls(const Tls& tls);
  asio::awaitable<void> serve();
  asio::awaitable<ReadEnd> read_request();
  asio::awaitable<bool> read_more();
  asio::awaitable<bool> send_continue();
  asio::awaitable<Response> answer(Request request, std::shared_ptr<ReplySlot> slot);
  asio::awaitable<bool> write(Response response, bool is_head);
  asio::awaitable<bool> write_all(std::array<asio::const_buffer, 2> parts);
  asio::awaitable<void> linger();

  void enter(Phase phase, Duration allowed);
  Duration transfer_time(size_t bytes) const;
  void refuse(int status, std::string code, std::string message);
  void build_head(const Response& response, bool keep_alive);
  std::string_view unread() const { return {buffer_.data() + begin_, end_ - begin_}; }

  Worker& worker_;
  asio::ip::tcp::socket socket_;
  std::unique_ptr<TlsStream> tls_;  // null: plain
  std::string remote_;
  RequestParser parser_;
  std::vector<char> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  size_t body_received_ = 0;

  Phase phase_ = Phase::kIdle;
  Clock::time_point phase_start_;
  Clock::time_point deadline_;
  bool expired_ = false;
  bool aborted_ = false;
  bool keep_alive_ = true;
  std::string request_id_;
  std::string head_;                 // of the response being written
  Response refusal_;                 // set when read_request() says kRefused
  std::shared_ptr<ReplySlot> slot_;  // while kHandling
};

}  // namespace teson::http
