// Load on one HTTP endpoint: N keep-alive connections, SigV4-signed requests, requests per second and latencies.
//
//   http_load --self                                     the HTTP layer alone: an echo server in this process
//   http_load --endpoint 127.0.0.1:8790 --path /v1/submitjob --body '{"jobName":"j{n}","jobQueue":"default",...}'
//
// Keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. "{n}" in the body becomes a number of its own in every
// request. Requests are signed before the clock starts, so that the server is measured and not this program; each
// connection has one request in flight. Prints one line; exits 1 if any answer was not 2xx.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "api/http/router.h"
#include "api/http/server.h"
#include "wire/sigv4.h"

namespace {

using namespace teson;
using Clock = std::chrono::steady_clock;

struct Options {
  std::map<std::string, std::string> values = {{"connections", "32"},   {"seconds", "5"},      {"path", "/v1/echo"},
                                               {"body", "{\"n\":{n}}"}, {"target", ""},        {"service", "batch"},
                                               {"threads", "1"},        {"requests", "100000"}};
  bool self = false;
  int number(const std::string& name) const { return std::atoi(values.at(name).c_str()); }
  const std::string& text(const std::string& name) const { return values.at(name); }
};

Instant wall_now() {
  return Instant{
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count()};
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::vector<std::string> signed_requests(const Options& options, const std::string& endpoint, const std::string& key,
                                         const std::string& secret) {
  std::vector<std::string> out;
  const std::string salt = std::to_string(wall_now().micros % 1'000'000'000);
  for (int n = 0; n < options.number("requests"); ++n) {
    std::string body = options.text("body");
    for (size_t at; (at = body.find("{n}")) != std::string::npos;) body.replace(at, 3, salt + std::to_string(n));
    wire::Headers headers = {{"Host", endpoint}, {"Content-Type", "application/json"}};
    if (!options.text("target").empty()) headers.add("X-Amz-Target", options.text("target"));
    const wire::RequestView view{"POST", options.text("path"), "", headers, body};
    const wire::Headers added = wire::sign(view, {key, secret, "", "us-east-1", options.text("service")}, wall_now());
    std::string text = fmt::format("POST {} HTTP/1.1\r\n", options.text("path"));
    for (const wire::Header& field : headers) text += fmt::format("{}: {}\r\n", field.name, field.value);
    for (const wire::Header& field : added) text += fmt::format("{}: {}\r\n", field.name, field.value);
    out.push_back(text + fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body));
  }
  return out;
}

struct Link {
  int fd = -1;
  std::string in;
  Clock::time_point sent;
};

int connect_to(const std::string& endpoint) {
  const size_t colon = endpoint.rfind(':');
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(std::atoi(endpoint.substr(colon + 1).c_str())));
  if (colon == std::string::npos || ::inet_pton(AF_INET, endpoint.substr(0, colon).c_str(), &address.sin_addr) != 1) {
    fmt::print(stderr, "--endpoint must be an IPv4 address and a port, as 127.0.0.1:8790, not '{}'\n", endpoint);
    std::exit(2);
  }
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    fmt::print(stderr, "cannot connect to {}\n", endpoint);
    std::exit(2);
  }
  return fd;
}

// The length of the first whole response in `in`, or 0.
size_t whole_response(const std::string& in) {
  const size_t head = in.find("\r\n\r\n");
  if (head == std::string::npos) return 0;
  const size_t field = in.find("Content-Length: ");
  const size_t body = field < head ? static_cast<size_t>(std::atoll(in.c_str() + field + 16)) : 0;
  return in.size() >= head + 4 + body ? head + 4 + body : 0;
}

class Load {
 public:
  Load(const std::string& endpoint, int connections, const std::vector<std::string>& requests)
      : requests_(requests), epoll_(::epoll_create1(EPOLL_CLOEXEC)), links_(static_cast<size_t>(connections)) {
    for (size_t i = 0; i < links_.size(); ++i) {
      links_[i].fd = connect_to(endpoint);
      epoll_event event{EPOLLIN, {.u64 = i}};
      ::epoll_ctl(epoll_, EPOLL_CTL_ADD, links_[i].fd, &event);
    }
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  ~Load() {
    for (const Link& link : links_) ::close(link.fd);
    ::close(epoll_);
  }

  // Until the time is over, or there are no more requests and `reuse` is false.
  void run(std::chrono::seconds time, bool reuse) {
    reuse_ = reuse;
    const Clock::time_point start = Clock::now();
    for (Link& link : links_) send_next(link);
    epoll_event events[64];
    while (in_flight_ > 0) {
      stopping_ = Clock::now() - start >= time;
      const int count = ::epoll_wait(epoll_, events, 64, 1000);
      for (int i = 0; i < count; ++i) receive(links_[events[i].data.u64]);
    }
    elapsed_ = std::chrono::duration<double>(Clock::now() - start).count();
  }

  int report() {
    std::sort(micros_.begin(), micros_.end());
    const auto at = [&](double share) {
      return micros_.empty() ? 0.0
                             : micros_[static_cast<size_t>(share * static_cast<double>(micros_.size() - 1))] / 1000.0;
    };
    fmt::print("{} requests in {:.2f} s: {:.0f} req/s, p50 {:.3f} ms, p99 {:.3f} ms, max {:.3f} ms, {} not 2xx\n",
               micros_.size(), elapsed_, static_cast<double>(micros_.size()) / elapsed_, at(0.5), at(0.99), at(1.0),
               bad_);
    if (!first_bad_.empty()) fmt::print(stderr, "first refusal:\n{}\n", first_bad_);
    return bad_ == 0 && !micros_.empty() ? 0 : 1;
  }

 private:
  void send_next(Link& link) {
    if (stopping_ || (!reuse_ && next_ >= requests_.size())) return;
    const std::string& request = requests_[next_++ % requests_.size()];
    link.sent = Clock::now();
    if (::send(link.fd, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) {
      fmt::print(stderr, "the server closed a connection\n");
      std::exit(1);
    }
    ++in_flight_;
  }

  void receive(Link& link) {
    char block[16 * 1024];
    const ssize_t got = ::recv(link.fd, block, sizeof(block), 0);
    if (got <= 0) {
      fmt::print(stderr, "the server closed a connection\n");
      std::exit(1);
    }
    link.in.append(block, static_cast<size_t>(got));
    const size_t length = whole_response(link.in);
    if (length == 0) return;
    if (link.in[9] != '2') {
      if (bad_++ == 0) first_bad_ = link.in.substr(0, length);
    }
    link.in.erase(0, length);
    micros_.push_back(std::chrono::duration<double, std::micro>(Clock::now() - link.sent).count());
    --in_flight_;
    send_next(link);
  }

  const std::vector<std::string>& requests_;
  int epoll_;
  std::vector<Link> links_;
  size_t next_ = 0;
  bool reuse_ = false;
  bool stopping_ = false;
  int in_flight_ = 0;
  int bad_ = 0;
  std::string first_bad_;
  std::vector<double> micros_;
  double elapsed_ = 0;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--self") {
      options.self = true;
    } else if (name.starts_with("--") && i + 1 < argc &&
               (name == "--endpoint" || options.values.contains(name.substr(2)))) {
      options.values[name.substr(2)] = argv[++i];
    } else {
      return false;
    }
  }
  return options.self != options.values.contains("endpoint") && options.number("connections") > 0 &&
         options.number("seconds") > 0 && options.number("requests") > 0;
}

int measure(const Options& options, const std::string& endpoint, const std::string& key, const std::string& secret) {
  const std::vector<std::string> requests = signed_requests(options, endpoint, key, secret);
  Load load(endpoint, options.number("connections"), requests);
  // Numbered bodies are sent once only; others as often as there is time.
  load.run(std::chrono::seconds(options.number("seconds")),
           options.self || options.text("body").find("{n}") == std::string::npos);
  return load.report();
}

int measure_self(const Options& options) {
  const http::FixedCredentials credentials(std::vector<http::FixedCredentials::Key>{{"AKIDLOAD", "load/secret"}});
  const http::Authenticator authenticator(credentials, wall_now);
  http::Router router(authenticator);
  http::FunctionHandler echo([](http::Request request, const http::Reply& reply) {
    reply(http::json_response(request, std::move(request.body)));
  });
  router.add("POST", options.text("path"), echo);
  http::ServerOptions server_options;
  server_options.port = 0;
  server_options.threads = options.number("threads");
  auto server = http::Server::start(server_options, router);
  if (!server) {
    fmt::print(stderr, "{}\n", server.error().message);
    return 2;
  }
  return measure(options, (*server)->address(), "AKIDLOAD", "load/secret");
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    fmt::print(stderr,
               "usage: http_load (--self [--threads N] | --endpoint HOST:PORT) [--connections 32] [--seconds 5]\n"
               "                 [--requests 100000] [--path /v1/echo] [--body TEXT] [--target X-AMZ-TARGET] "
               "[--service batch]\n");
    return 2;
  }
  if (options.self) return measure_self(options);
  const std::string key = environment("AWS_ACCESS_KEY_ID");
  const std::string secret = environment("AWS_SECRET_ACCESS_KEY");
  if (key.empty() || secret.empty()) {
    fmt::print(stderr, "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (`teson env` prints them)\n");
    return 2;
  }
  return measure(options, options.text("endpoint"), key, secret);
}
