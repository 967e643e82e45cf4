#include "api/http/worker.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <chrono>

#include "api/http/connection.h"
#include "base/uuid.h"
#include "wire/time_text.h"

namespace teson::http {
namespace {

constexpr std::chrono::milliseconds kSweepInterval{100};

}  // namespace

bool ConnectionCount::try_add(int limit) {
  const std::lock_guard lock(mutex_);
  if (count_ >= limit) return false;
  ++count_;
  return true;
}

void ConnectionCount::remove() {
  const std::lock_guard lock(mutex_);
  if (--count_ == 0) none_.notify_all();
}

bool ConnectionCount::wait_for_none(Duration patience) {
  std::unique_lock lock(mutex_);
  return none_.wait_for(lock, std::chrono::microseconds(patience.micros), [this] { return count_ == 0; });
}

Worker::Worker(const ServerOptions& options, Handler& handler, ConnectionCount& count, uint64_t seed)
    : options_(options),
      handler_(handler),
      count_(count),
      work_(asio::make_work_guard(context_)),
      sweeper_(context_),
      request_ids_(seed) {}

Worker::~Worker() { join(); }

void Worker::start() {
  asio::post(context_, [this] { sweep(); });
  thread_ = std::thread([this] { context_.run(); });
}

void Worker::adopt(asio::ip::tcp::socket socket) {
  auto connection = std::make_shared<Connection>(*this, std::move(socket));
  asio::co_spawn(context_, Connection::run(connection), [connection](std::exception_ptr error) {
    if (!error) return;
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& what) {
      spdlog::error("connection from {} ended: {}", connection->remote(), what.what());
    }
  });
}

void Worker::remove(Connection* connection) {
  if (connections_.erase(connection) == 1) count_.remove();
}

void Worker::drain() {
  asio::post(context_, [this] {
    draining_ = true;
    for (Connection* connection : connections_) connection->drain();
  });
}

void Worker::abort() {
  asio::post(context_, [this] {
    draining_ = true;
    for (Connection* connection : connections_) connection->abort();
  });
}

void Worker::join() {
  if (!thread_.joinable()) return;
  context_.stop();
  thread_.join();
}

void Worker::sweep() {
  const auto now = std::chrono::steady_clock::now();
  for (Connection* connection : connections_) connection->expire(now);
  sweeper_.expires_after(kSweepInterval);
  sweeper_.async_wait([this](error_code error) {
    if (!error) sweep();
  });
}

std::string Worker::next_request_id() {
  const uint64_t high = request_ids_.next();
  return Uuid::from_random_bits(high, request_ids_.next()).text();
}

const std::string& Worker::date() {
  const int64_t second =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  if (second != date_second_) {
    date_second_ = second;
    date_ = wire::http_date(Instant{second * 1'000'000});
  }
  return date_;
}

}  // namespace teson::http
