#include "api/http/server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <future>
#include <random>
#include <vector>

#include "api/http/worker.h"

namespace teson::http {
namespace {

using asio::ip::tcp;

constexpr Duration kAbortPatience = Duration::seconds(5);
constexpr int kBacklog = 1024;
std::string full_response() {
  constexpr std::string_view kBody = "{\"message\":\"Too many connections are open; try again in a moment.\"}";
  return fmt::format(
      "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
      "x-amzn-ErrorType: ServiceUnavailableException\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
      kBody.size(), kBody);
}

// asio leaves this out.
void keep_from_programs(int descriptor) { ::fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

std::string shown(const std::string& host, uint16_t port) {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

Result<tcp::endpoint> resolve(asio::io_context& context, std::string host, uint16_t port) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  error_code error;
  const asio::ip::address address = asio::ip::make_address(host, error);
  if (!error) return tcp::endpoint(address, port);
  tcp::resolver resolver(context);
  const auto found = resolver.resolve(host, std::to_string(port), tcp::resolver::passive, error);
  if (error || found.empty()) {
    return invalid(
        fmt::format("cannot listen on '{}': it is neither an address nor a name that resolves ({}); "
                    "127.0.0.1 serves this machine only, 0.0.0.0 all its networks",
                    host, error.message()));
  }
  return found.begin()->endpoint();
}

std::unexpected<Error> listen_error(const std::string& address, const error_code& error) {
  if (error == asio::error::address_in_use) {
    return fail(ErrorKind::kUnavailable,
                fmt::format("{} is in use: another program, perhaps another teson server, listens there; stop it or "
                            "choose another port with --listen HOST:PORT (port 0 takes any free one)",
                            address));
  }
  if (error == asio::error::access_denied) {
    return fail(ErrorKind::kDenied,
                fmt::format("{} may not be listened on by this user: choose a port from 1024 up with "
                            "--listen HOST:PORT",
                            address));
  }
  return fail(ErrorKind::kIo, fmt::format("cannot listen on {}: {}", address, error.message()));
}

uint64_t random_seed() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

}  // namespace

struct Server::Impl {
  Impl(ServerOptions opts, Handler& handler) : options(std::move(opts)) {
    for (int i = 0; i < std::max(1, options.threads); ++i) {
      workers.push_back(std::make_unique<Worker>(options, handler, count, random_seed()));
    }
  }

  asio::io_context& front() { return workers.front()->context(); }
  Status listen();
  void accept();
  void accepted(Worker& worker, error_code error, tcp::socket socket);
  void turn_away(tcp::socket socket);

  const ServerOptions options;
  ConnectionCount count;
  std::vector<std::unique_ptr<Worker>> workers;  // the first one accepts for all
  std::optional<tcp::acceptor> acceptor;
  std::optional<asio::steady_timer> pause;
  tcp::endpoint local;
  size_t next = 0;
  bool stopped = false;
};

Status Server::Impl::listen() {
  const Result<tcp::endpoint> wanted = resolve(front(), options.host, options.port);
  if (!wanted) return std::unexpected(wanted.error());
  const std::string name = shown(wanted->address().to_string(), wanted->port());
  error_code error;
  acceptor.emplace(front());
  pause.emplace(front());
  acceptor->open(wanted->protocol(), error);
  if (!error) keep_from_programs(acceptor->native_handle());
  if (!error) acceptor->set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor->bind(*wanted, error);
  if (!error) acceptor->listen(kBacklog, error);
  if (!error) local = acceptor->local_endpoint(error);
  if (error) return listen_error(name, error);
  return {};
}

void Server::Impl::accept() {
  Worker& worker = *workers[next++ % workers.size()];
  acceptor->async_accept(worker.context(), [this, &worker](error_code error, tcp::socket socket) {
    accepted(worker, error, std::move(socket));
  });
}

void Server::Impl::accepted(Worker& worker, error_code error, tcp::socket socket) {
  if (error == asio::error::operation_aborted || !acceptor->is_open()) return;
  if (!error) {
    keep_from_programs(socket.native_handle());
    if (count.try_add(options.max_connections)) {
      worker.adopt(std::move(socket));
    } else {
      turn_away(std::move(socket));
    }
    accept();
    return;
  }
  // Out of file descriptors or the like: others may be closed in a moment.
  spdlog::warn("cannot accept a connection: {}", error.message());
  pause->expires_after(std::chrono::milliseconds(100));
  pause->async_wait([this](error_code stopped_early) {
    if (!stopped_early && acceptor->is_open()) accept();
  });
}

void Server::Impl::turn_away(tcp::socket socket) {
  error_code ignored;
  socket.non_blocking(true, ignored);
  static const std::string response = full_response();
  socket.write_some(asio::buffer(response), ignored);
  socket.shutdown(tcp::socket::shutdown_both, ignored);
}

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, Handler& handler) {
  try {
    auto impl = std::make_unique<Impl>(std::move(options), handler);
    if (Status status = impl->listen(); !status) return std::unexpected(std::move(status.error()));
    for (const std::unique_ptr<Worker>& worker : impl->workers) worker->start();
    asio::post(impl->front(), [raw = impl.get()] { raw->accept(); });
    return std::unique_ptr<Server>(new Server(std::move(impl)));
  } catch (const std::exception& error) {
    return fail(ErrorKind::kIo, fmt::format("cannot start the HTTP server: {}", error.what()));
  }
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() { stop({}); }

uint16_t Server::port() const { return impl_->local.port(); }
std::string Server::address() const { return shown(impl_->local.address().to_string(), port()); }

void Server::stop(Duration patience) {
  if (std::exchange(impl_->stopped, true)) return;
  std::promise<void> closed;
  asio::post(impl_->front(), [this, &closed] {
    error_code ignored;
    impl_->acceptor->close(ignored);
    impl_->pause->cancel(ignored);
    closed.set_value();
  });
  closed.get_future().wait();
  for (const std::unique_ptr<Worker>& worker : impl_->workers) worker->drain();
  if (!impl_->count.wait_for_none(patience)) {
    for (const std::unique_ptr<Worker>& worker : impl_->workers) worker->abort();
    if (!impl_->count.wait_for_none(kAbortPatience)) spdlog::error("HTTP connections did not end; closing anyway");
  }
  for (const std::unique_ptr<Worker>& worker : impl_->workers) worker->join();
}

}  // namespace teson::http
