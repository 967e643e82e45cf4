// Where the server may listen, and what it says where it may not.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/http/server.h"

namespace teson::http {
namespace {

class ListenTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Server>> listen_on(const std::string& host, uint16_t port = 0) {
    ServerOptions options;
    options.host = host;
    options.port = port;
    return Server::start(options, handler_);
  }

 private:
  FunctionHandler handler_{[](Request, Reply reply) { reply({200, {}, "here"}); }};
};

TEST_F(ListenTest, APortInUseSaysWhatToDo) {
  const auto first = listen_on("127.0.0.1");
  ASSERT_TRUE(first) << first.error().message;
  const std::string address = (*first)->address();
  const auto second = listen_on("127.0.0.1", (*first)->port());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(second.error().message.find(address + " is in use"), std::string::npos) << second.error().message;
  EXPECT_NE(second.error().message.find("--listen"), std::string::npos);
}

TEST_F(ListenTest, HostsThatAreNotHereAreRefused) {
  // TEST-NET-1: nobody has it.
  EXPECT_NE(listen_on("192.0.2.1").error().message.find("cannot listen on 192.0.2.1:0"), std::string::npos);
  EXPECT_FALSE(listen_on("no such host"));
}

TEST_F(ListenTest, NamesAndIpv6LiteralsWork) {
  const auto named = listen_on("localhost");
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_NE((*named)->port(), 0);
  const auto six = listen_on("[::1]");
  // A machine without IPv6 has no ::1 to listen on.
  const int probe = ::socket(AF_INET6, SOCK_STREAM, 0);
  sockaddr_in6 loopback{};
  loopback.sin6_family = AF_INET6;
  loopback.sin6_addr = in6addr_loopback;
  const bool has_ipv6 =
      probe >= 0 && ::bind(probe, reinterpret_cast<const sockaddr*>(&loopback), sizeof(loopback)) == 0;
  if (probe >= 0) ::close(probe);
  ASSERT_EQ(six.has_value(), has_ipv6);
  if (six) {
    EXPECT_EQ((*six)->address(), fmt::format("[::1]:{}", (*six)->port()));
  }
}

}  // namespace
}  // namespace teson::http
