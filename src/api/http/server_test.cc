#include "api/http/server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "api/http/client_testing.h"
#include "api/http/router.h"

namespace teson::http {
namespace {

// Keeps replies for the test to answer whenever it likes.
class LaterHandler final : public Handler {
 public:
  void handle(Request request, Reply reply) override {
    const std::lock_guard lock(mutex_);
    waiting_.emplace_back(std::move(request), std::move(reply));
    arrived_.notify_all();
  }
  // Waits for one to arrive.
  std::pair<Request, Reply> next() {
    std::unique_lock lock(mutex_);
    const bool there = arrived_.wait_for(lock, std::chrono::seconds(10), [this] { return !waiting_.empty(); });
    EXPECT_TRUE(there);
    if (!there) return {Request{}, [](Response) {}};
    auto out = std::move(waiting_.front());
    waiting_.pop_front();
    return out;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::pair<Request, Reply>> waiting_;
};

class ServerTest : public testing::Test {
 protected:
  void SetUp() override {
    router.add("POST", "/v1/echo", echo);
    router.add("GET", "/v1/echo", echo);
    router.add("POST", "/v1/later", later);
    router.add("POST", "/v1/lost", lost);
    router.add("POST", "/v1/throws", throws);
    router.add("GET", "/healthz", health, Access::kPublic);
  }
  void start(ServerOptions options = {}) {
    options.port = 0;
    auto started = Server::start(options, router);
    ASSERT_TRUE(started) << started.error().message;
    server = std::move(*started);
  }
  std::string echo_request(std::string_view body = "{}") { return signed_request("POST", "/v1/echo", body); }

  FixedCredentials credentials{{{std::string(kTestKey), std::string(kTestSecret)}}};
  Authenticator authenticator{credentials, wall_now};
  Router router{authenticator};
  FunctionHandler echo{[](Request request, Reply reply) {
    std::string body = request.body + "|" + request.access_key_id;
    reply(json_response(request, std::move(body)));
  }};
  FunctionHandler lost{[](Request, const Reply&) {}};
  FunctionHandler throws{[](Request, const Reply&) { throw std::runtime_error("on purpose"); }};
  FunctionHandler health{[](Request, const Reply& reply) { reply({200, {{"X-Odd", "a\r\nSet-Cookie: b"}}, "ok"}); }};
  LaterHandler later;
  std::unique_ptr<Server> server;
};

TEST_F(ServerTest, AnswersSignedRequestsOnOneConnection) {
  start();
  RawClient client(server->port());
  std::string first_id;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.send(echo_request(fmt::format("body {}", i))));
    const auto response = client.receive();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->body, fmt::format("body {}|AKIDTEST", i));
    EXPECT_EQ(response->headers.get("content-type"), "application/json");
    EXPECT_EQ(response->headers.get("x-amzn-requestid").size(), 36U);
    EXPECT_NE(response->headers.get("x-amzn-requestid"), first_id);
    EXPECT_TRUE(response->headers.get("date").ends_with(" GMT"));
    first_id = response->headers.get("x-amzn-requestid");
  }
  EXPECT_EQ(server->address(), fmt::format("127.0.0.1:{}", server->port()));
}

TEST_F(ServerTest, PipelinedRequestsAreAnsweredInOrder) {
  start();
  RawClient client(server->port());
  std::string all;
  for (int i = 0; i < 50; ++i) all += echo_request(std::to_string(i));
  ASSERT_TRUE(client.send(all));
  for (int i = 0; i < 50; ++i) {
    const auto response = client.receive();
    ASSERT_TRUE(response) << i;
    EXPECT_EQ(response->body, std::to_string(i) + "|AKIDTEST");
  }
}

TEST_F(ServerTest, LateAnswersKeepThePipelinesOrder) {
  start();
  RawClient client(server->port());
  ASSERT_TRUE(client.send(signed_request("POST", "/v1/later", "1") + echo_request("2")));
  auto [request, reply] = later.next();
  EXPECT_EQ(request.body, "1");
  EXPECT_TRUE(request.remote.starts_with("127.0.0.1:"));
  std::thread elsewhere([answer = std::move(reply)] {
    answer({200, {}, "late"});
    answer({500, {}, "twice"});
  });
  EXPECT_EQ(client.receive()->body, "late");
  EXPECT_EQ(client.receive()->body, "2|AKIDTEST");
  elsewhere.join();
}

TEST_F(ServerTest, UnansweredAndThrowingHandlersGive500) {
  start();
  RawClient client(server->port());
  for (const char* path : {"/v1/lost", "/v1/throws"}) {
    ASSERT_TRUE(client.send(signed_request("POST", path, "{}")));
    const auto response = client.receive();
    ASSERT_TRUE(response) << path;
    EXPECT_EQ(response->status, 500);
    EXPECT_EQ(response->headers.get("x-amzn-errortype"), "InternalFailure");
  }
  ASSERT_TRUE(client.send(echo_request()));
  EXPECT_EQ(client.receive()->status, 200);
}

TEST_F(ServerTest, SignaturesThatAreWrongOrOldAre403) {
  start();
  RawClient client(server->port());
  const Instant old = wall_now() - Duration::seconds(16 * 60);
  const Instant future = wall_now() + Duration::seconds(16 * 60);
  for (const std::string& bytes :
       {signed_request("POST", "/v1/echo", "{}", {}, std::nullopt, "guess"),
        signed_request("POST", "/v1/echo", "{}", {}, old), signed_request("POST", "/v1/echo", "{}", {}, future)}) {
    ASSERT_TRUE(client.send(bytes));
    const auto response = client.receive();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 403);
    EXPECT_EQ(response->headers.get("x-amzn-errortype"), "InvalidSignatureException");
  }
  ASSERT_TRUE(client.send("POST /v1/echo HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n"));
  EXPECT_EQ(client.receive()->headers.get("x-amzn-errortype"), "MissingAuthenticationTokenException");
}

TEST_F(ServerTest, MalformedRequestsGet400InAwsShapeAndTheConnectionCloses) {
  start();
  for (const char* bytes : {"nonsense\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\x16\x03\x01\r\n\r\n"}) {
    RawClient client(server->port());
    ASSERT_TRUE(client.send(bytes));
    const auto response = client.receive();
    ASSERT_TRUE(response) << bytes;
    EXPECT_EQ(response->status, 400);
    EXPECT_EQ(response->headers.get("x-amzn-errortype"), "MalformedHttpRequestException");
    EXPECT_EQ(response->headers.get("connection"), "close");
    EXPECT_TRUE(client.closed());
  }
}

TEST_F(ServerTest, TenMebibytesAre413ThoughTheClientSendsItAllFirst) {
  start();
  const std::string body(10 * 1024 * 1024, 'x');
  RawClient client(server->port());
  ASSERT_TRUE(client.send(signed_request("POST", "/v1/echo", body, {{"X-Amz-Target", "A.B"}})));
  const auto response = client.receive();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 413);
  EXPECT_NE(response->body.find("RequestEntityTooLarge"), std::string::npos);
  EXPECT_TRUE(client.closed());

  RawClient chunked(server->port());
  ASSERT_TRUE(chunked.send("POST /v1/echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" +
                           fmt::format("{:x}\r\n{}\r\n0\r\n\r\n", body.size(), body)));
  EXPECT_EQ(chunked.receive()->status, 413);
}

TEST_F(ServerTest, EightMebibytesAreFine) {
  start();
  const std::string body(8 * 1024 * 1024, 'x');
  RawClient client(server->port());
  ASSERT_TRUE(client.send(echo_request(body)));
  const auto response = client.receive();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body.size(), body.size() + std::string_view("|AKIDTEST").size());
}

TEST_F(ServerTest, HeadersOverTheLimitAre431) {
  start();
  RawClient client(server->port());
  ASSERT_TRUE(client.send("GET /healthz HTTP/1.1\r\nHost: h\r\nX: " + std::string(70'000, 'a') + "\r\n\r\n"));
  const auto response = client.receive();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 431);
}

TEST_F(ServerTest, AnEndlessChunkHeaderIsRefused) {
  start();
  RawClient client(server->port());
  client.send("POST /v1/echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1;x=");
  client.send(std::string(300'000, 'a'));
  const auto response = client.receive();
  ASSERT_TRUE(response);
  EXPECT_GE(response->status, 400);
  EXPECT_LT(response->status, 500);
}

TEST_F(ServerTest, ATruncatedBodyIsNeverHandled) {
  start();
  {
    RawClient client(server->port());
    std::string bytes = signed_request("POST", "/v1/later", "whole body");
    ASSERT_TRUE(client.send(bytes.substr(0, bytes.size() - 1)));
    client.finish_sending();
    EXPECT_TRUE(client.closed());
  }
  RawClient client(server->port());
  ASSERT_TRUE(client.send(signed_request("POST", "/v1/later", "second")));
  auto [request, reply] = later.next();
  EXPECT_EQ(request.body, "second");
  reply({200, {}, ""});
  EXPECT_EQ(client.receive()->status, 200);
}

TEST_F(ServerTest, SlowHeadsAndBodiesTimeOut) {
  ServerOptions options;
  options.header_timeout = Duration::millis(200);
  options.transfer_timeout = Duration::millis(200);
  start(options);
  RawClient slow_head(server->port());
  ASSERT_TRUE(slow_head.send("GET /healthz HTTP/1.1\r\nHost"));
  RawClient slow_body(server->port());
  ASSERT_TRUE(slow_body.send("POST /v1/echo HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nabc"));
  for (RawClient* client : {&slow_head, &slow_body}) {
    const auto response = client->receive();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 408);
    EXPECT_EQ(response->headers.get("connection"), "close");
  }
}

TEST_F(ServerTest, AClientThatTricklesBytesTimesOutToo) {
  ServerOptions options;
  options.header_timeout = Duration::millis(300);
  start(options);
  RawClient client(server->port());
  // A byte every 10 ms never lets the connection rest, yet the head is not done in time.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  ASSERT_TRUE(client.send("GET /healthz HTTP/1.1\r\nHost: "));
  std::optional<RawResponse> response;
  while (!response && std::chrono::steady_clock::now() < deadline) {
    if (!client.send("h")) break;
    response = client.receive(false, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 408);
}

TEST_F(ServerTest, IdleConnectionsCloseWithoutAWord) {
  ServerOptions options;
  options.idle_timeout = Duration::millis(100);
  start(options);
  RawClient fresh(server->port());
  RawClient used(server->port());
  ASSERT_TRUE(used.send(echo_request()));
  EXPECT_EQ(used.receive()->status, 200);
  EXPECT_TRUE(fresh.closed());
  EXPECT_TRUE(used.closed());
}

TEST_F(ServerTest, HeadHasTheLengthButNoBody) {
  start();
  RawClient client(server->port());
  ASSERT_TRUE(client.send("HEAD /healthz HTTP/1.1\r\nHost: h\r\n\r\nGET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"));
  const auto head = client.receive(true);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, 200);
  EXPECT_EQ(head->headers.get("content-length"), "2");
  const auto get = client.receive();
  ASSERT_TRUE(get);
  EXPECT_EQ(get->body, "ok");
}

TEST_F(ServerTest, ResponseHeadersCannotBeSplit) {
  start();
  RawClient client(server->port());
  ASSERT_TRUE(client.send("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"));
  const auto response = client.receive();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->headers.count("set-cookie"), 0U);
  EXPECT_EQ(response->headers.get("x-odd"), "a  Set-Cookie: b");
}

TEST_F(ServerTest, ExpectContinueIsAnsweredBeforeTheBody) {
  start();
  RawClient client(server->port());
  const std::string bytes = signed_request("POST", "/v1/echo", "hello", {{"Expect", "100-continue"}});
  ASSERT_TRUE(client.send(bytes.substr(0, bytes.size() - 5)));
  const auto interim = client.receive(true);
  ASSERT_TRUE(interim);
  EXPECT_EQ(interim->status, 100);
  ASSERT_TRUE(client.send("hello"));
  EXPECT_EQ(client.receive()->body, "hello|AKIDTEST");
  // A body that is too large is refused before it is sent.
  ASSERT_TRUE(
      client.send("POST /v1/echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n"));
  EXPECT_EQ(client.receive()->status, 413);
}

TEST_F(ServerTest, ConnectionCloseAndHttp10AreHonoured) {
  start();
  RawClient eleven(server->port());
  ASSERT_TRUE(eleven.send("GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"));
  EXPECT_EQ(eleven.receive()->headers.get("connection"), "close");
  EXPECT_TRUE(eleven.closed());
  RawClient ten(server->port());
  ASSERT_TRUE(ten.send("GET /healthz HTTP/1.0\r\n\r\n"));
  EXPECT_EQ(ten.receive()->body, "ok");
  EXPECT_TRUE(ten.closed());
}

TEST_F(ServerTest, OneConnectionTooManyIsTurnedAway) {
  ServerOptions options;
  options.max_connections = 2;
  start(options);
  RawClient one(server->port());
  auto two = std::make_unique<RawClient>(server->port());
  for (RawClient* client : {&one, two.get()}) {
    ASSERT_TRUE(client->send(echo_request()));
    EXPECT_EQ(client->receive()->status, 200);
  }
  RawClient three(server->port());
  const auto response = three.receive();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 503);
  EXPECT_EQ(response->body, "{\"message\":\"Too many connections are open; try again in a moment.\"}");
  EXPECT_TRUE(three.closed());
  two = nullptr;
  // Room again once the server has noticed.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  int status = 0;
  while (status != 200 && std::chrono::steady_clock::now() < deadline) {
    RawClient four(server->port());
    if (four.send(echo_request())) status = four.receive().value_or(RawResponse{}).status;
  }
  EXPECT_EQ(status, 200);
}

TEST_F(ServerTest, StopWaitsForAnswersInFlightAndClosesTheRest) {
  start();
  RawClient busy(server->port());
  RawClient idle(server->port());
  ASSERT_TRUE(idle.send(echo_request()));
  EXPECT_EQ(idle.receive()->status, 200);
  ASSERT_TRUE(busy.send(signed_request("POST", "/v1/later", "x")));
  auto [request, reply] = later.next();
  std::thread stopper([this] { server->stop(Duration::seconds(10)); });
  EXPECT_TRUE(idle.closed());
  reply({200, {}, "finished"});
  const auto response = busy.receive();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->body, "finished");
  EXPECT_EQ(response->headers.get("connection"), "close");
  stopper.join();
  RawClient late(server->port());
  EXPECT_FALSE(late.send("GET / HTTP/1.1\r\n\r\n") && late.receive());
}

TEST_F(ServerTest, StopDoesNotWaitForEver) {
  start();
  RawClient client(server->port());
  ASSERT_TRUE(client.send(signed_request("POST", "/v1/later", "x")));
  auto [request, reply] = later.next();
  const auto before = std::chrono::steady_clock::now();
  server->stop(Duration::millis(50));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5));
  const auto response = client.receive();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 503);
  reply({200, {}, "too late, and harmless"});
  server = nullptr;
  reply({200, {}, "later still"});
}

TEST_F(ServerTest, StopsUnderLoadFromManyClients) {
  start();
  std::atomic<int> answered = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([this, &answered] {
      RawClient client(server->port());
      while (client.send(echo_request())) {
        const auto response = client.receive();
        if (!response) return;
        EXPECT_EQ(response->status, 200);
        ++answered;
      }
    });
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (answered < 200 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  server->stop(Duration::seconds(10));
  for (std::thread& client : clients) client.join();
  EXPECT_GE(answered, 200);
}

}  // namespace
}  // namespace teson::http
