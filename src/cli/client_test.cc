#include "cli/client.h"

#include <gtest/gtest.h>

#include "cli/http_stand_in_testing.h"
#include "wire/sigv4.h"

namespace teson::cli {
namespace {

Session session_for(const std::string& endpoint) {
  return {.data = "/data/dir",
          .endpoint = endpoint,
          .by_data_directory = true,
          .keys = {"AKID", "secret"},
          .region = "eu-west-1"};
}

// What verify() says of a request that has arrived: the service it was signed for, or why it is refused.
std::string verdict(const StandInRequest& request) {
  const auto secrets = [](std::string_view key) -> std::optional<std::string> {
    return key == "AKID" ? std::optional<std::string>("secret") : std::nullopt;
  };
  const auto verified = wire::verify({request.method, request.path, "", request.headers, request.body}, secrets, now());
  return verified ? verified->service + " " + verified->region : verified.error().message;
}

TEST(Client, SignsBatchCallsAsAwsClientsDo) {
  HttpStandIn server([](const StandInRequest&) { return StandInAnswer{.body = R"({"jobId": "x"})"}; });
  Client client(session_for(server.endpoint()));
  const auto answer = client.batch("SubmitJob", Json::object({{"jobName", "é"}}));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(text_field(*answer, "jobId"), "x");
  const StandInRequest request = server.requests().at(0);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/v1/submitjob");
  EXPECT_EQ(request.headers.get("content-type"), "application/json");
  EXPECT_EQ(request.body, "{\"jobName\":\"é\"}");
  EXPECT_EQ(verdict(request), "batch eu-west-1");
}

TEST(Client, SignsLogsCallsWithTheirTarget) {
  HttpStandIn server([](const StandInRequest&) { return StandInAnswer{}; });
  Client client(session_for(server.endpoint()));
  ASSERT_TRUE(client.logs("GetLogEvents", Json::object()));
  const StandInRequest request = server.requests().at(0);
  EXPECT_EQ(request.path, "/");
  EXPECT_EQ(request.headers.get("content-type"), "application/x-amz-json-1.1");
  EXPECT_EQ(request.headers.get("x-amz-target"), "Logs_20140328.GetLogEvents");
  EXPECT_EQ(verdict(request), "logs eu-west-1");
}

TEST(Client, KeepsItsConnection) {
  HttpStandIn server([](const StandInRequest&) { return StandInAnswer{}; });
  Client client(session_for(server.endpoint()));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(client.batch("DescribeJobs", Json::object()));
  EXPECT_EQ(server.requests().size(), 5u);
  EXPECT_EQ(server.connections(), 1);
}

TEST(Client, ShowsOperationCodeAndMessageOfAnError) {
  HttpStandIn server([](const StandInRequest& request) {
    if (request.path == "/") {
      return StandInAnswer{
          400, R"({"__type": "com.amazonaws.logs#ResourceNotFoundException", "message": "no stream"})", {}};
    }
    return StandInAnswer{
        400, R"({"message": "bad queue"})", {{"X-Amzn-ErrorType", "ClientException:http://internal/"}}};
  });
  Client client(session_for(server.endpoint()));
  const auto batch = client.batch("SubmitJob", Json::object());
  ASSERT_FALSE(batch);
  EXPECT_EQ(batch.error().kind, FailureKind::kService);
  EXPECT_EQ(batch.error().message, "SubmitJob: ClientException: bad queue");
  EXPECT_EQ(batch.error().code, "ClientException");
  const auto logs = client.logs("GetLogEvents", Json::object());
  ASSERT_FALSE(logs);
  EXPECT_EQ(logs.error().message, "GetLogEvents: ResourceNotFoundException: no stream");
}

// What may pass is waited for; everything else would be asked for ever.
TEST(Client, ToldApartAreFailuresThatMayPassAndThoseThatStay) {
  const auto passing = [](int status, const std::string& code) {
    const Failure failure =
        service_failure("X", HttpAnswer{.status = status, .headers = {}, .body = R"({"__type": ")" + code + R"("})"});
    EXPECT_EQ(failure.code, code);
    return failure.passing;
  };
  EXPECT_TRUE(passing(500, "ServiceUnavailableException"));
  EXPECT_TRUE(passing(503, "ServiceUnavailable"));
  EXPECT_TRUE(passing(502, "x"));
  EXPECT_TRUE(passing(400, "ThrottlingException"));
  EXPECT_TRUE(passing(429, "x"));
  EXPECT_TRUE(passing(408, "x"));
  EXPECT_FALSE(passing(400, "InvalidOperationException"));
  EXPECT_FALSE(passing(400, "InvalidParameterException"));
  EXPECT_FALSE(passing(400, "ResourceNotFoundException"));
  EXPECT_FALSE(passing(403, "UnrecognizedClientException"));
  EXPECT_FALSE(passing(301, "x"));
}

TEST(Client, AnErrorMessageCannotMoveTheCursor) {
  HttpStandIn server(
      [](const StandInRequest&) { return StandInAnswer{400, R"({"code": "X", "Message": "a\u001b[2Jb"})", {}}; });
  Client client(session_for(server.endpoint()));
  EXPECT_EQ(client.batch("SubmitJob", Json::object()).error().message, "SubmitJob: X: a\\x1b[2Jb");
}

TEST(Client, AnAnswerOfSomethingElseIsNotTakenForOurs) {
  HttpStandIn server([](const StandInRequest& request) {
    return StandInAnswer{request.path == "/healthz" ? 404 : 200, "<html>hello</html>", {}};
  });
  Client client(session_for(server.endpoint()));
  const auto answer = client.batch("DescribeJobs", Json::object());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, FailureKind::kUnreachable);
  EXPECT_NE(answer.error().message.find("not JSON: <html>hello</html>"), std::string::npos);
  EXPECT_EQ(client.health().error().message,
            server.endpoint() + " is not a healthy teson server: /healthz answered 404");
}

TEST(Client, ARefusedConnectionSaysHowToStartAServer) {
  std::string endpoint;
  {
    HttpStandIn server([](const StandInRequest&) { return StandInAnswer{}; });
    endpoint = server.endpoint();
  }
  Client client(session_for(endpoint));
  EXPECT_TRUE(client.batch("DescribeJobs", Json::object()).error().passing);
  EXPECT_EQ(client.batch("DescribeJobs", Json::object()).error().message,
            "DescribeJobs: nothing listens at " + endpoint + "; start the server with 'teson serve --data /data/dir'");
}

TEST(Client, ReadsVersionAndClockOffHealth) {
  HttpStandIn server([](const StandInRequest&) {
    return StandInAnswer{200, R"({"version": "0.1.0"})", {{"Date", "Sun, 30 Aug 2015 12:36:00 GMT"}}};
  });
  const auto health = Client(session_for(server.endpoint())).health();
  ASSERT_TRUE(health);
  EXPECT_EQ(health->version, "0.1.0");
  EXPECT_EQ(health->date->millis(), 1'440'938'160'000);
  EXPECT_TRUE(server.requests().at(0).headers.get("authorization").empty());
}

TEST(Client, AnEndlessAnswerIsRefused) {
  HttpStandIn server([](const StandInRequest&) { return StandInAnswer{200, std::string(65 << 20, ' '), {}}; });
  Client client(session_for(server.endpoint()));
  EXPECT_EQ(client.batch("DescribeJobs", Json::object()).error().kind, FailureKind::kUnreachable);
}

}  // namespace
}  // namespace teson::cli
