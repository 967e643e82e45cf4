// One thread of the server: its event loop, the connections that live on it, and their time-outs.
//
// Internal to src/api/http: this header brings in Boost.Asio. Everything but post() belongs to the worker's own thread.
#pragma once

// Asio 1.74's awaitable.hpp uses std::exchange without including this.
#include <utility>

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_set>

#include "api/http/http.h"
#include "api/http/server.h"
#include "base/prng.h"

namespace teson::http {

namespace asio = boost::asio;
using boost::system::error_code;

class Connection;

// How many connections there are over all workers, and a way to wait until there are none.
class ConnectionCount {
 public:
  // False if `limit` are open already.
  bool try_add(int limit);
  void remove();
  bool wait_for_none(Duration patience);

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  int count_ = 0;
};

class Worker {
 public:
  Worker(const ServerOptions& options, Handler& handler, ConnectionCount& count, uint64_t seed);
  ~Worker();

  asio::io_context& context() { return context_; }
  void start();
  // Takes over a connected socket of this worker's context, counted already. Any thread.
  void adopt(asio::ip::tcp::socket socket);
  // Idle connections end now, others after the answer that they are at. Any thread.
  void drain();
  // Whatever is left ends now. Any thread.
  void abort();
  // Ends the event loop and joins the thread.
  void join();

  // ---- For the worker's connections ----
  const ServerOptions& options() const { return options_; }
  Handler& handler() { return handler_; }
  bool draining() const { return draining_; }
  std::string next_request_id();
  // "Date: ..." of this second.
  const std::string& date();
  void add(Connection* connection) { connections_.insert(connection); }
  void remove(Connection* connection);

 private:
  void sweep();

  const ServerOptions& options_;
  Handler& handler_;
  ConnectionCount& count_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  asio::steady_timer sweeper_;
  std::unordered_set<Connection*> connections_;
  bool draining_ = false;
  Prng request_ids_;
  int64_t date_second_ = -1;
  std::string date_;
  std::thread thread_;
};

}  // namespace teson::http
