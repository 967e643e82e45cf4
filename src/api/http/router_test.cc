#include "api/http/router.h"

#include <gtest/gtest.h>

#include "api/http/client_testing.h"
#include "api/http/request_parser.h"

namespace teson::http {
namespace {

class RouterTest : public testing::Test {
 protected:
  // Answers with its name and what it was given.
  FunctionHandler named(std::string name) {
    return FunctionHandler([name](Request request, Reply reply) {
      std::string text = name;
      for (const auto& [key, value] : request.path_parameters) text += "|" + key + "=" + value;
      if (!request.operation.empty()) text += "|op=" + request.operation;
      reply({200, {}, text + "|by=" + request.access_key_id});
    });
  }

  Response ask(const std::string& bytes) {
    RequestParser parser({});
    size_t at = 0;
    while (!parser.done()) {
      const auto used = parser.put(std::string_view(bytes).substr(at));
      EXPECT_TRUE(used);
      if (!used || (*used == 0 && !parser.done())) break;
      at += *used;
    }
    std::optional<Response> got;
    router.handle(parser.take(), [&](Response response) { got = std::move(response); });
    EXPECT_TRUE(got);
    return got.value_or(Response{});
  }
  std::string body(std::string_view method, std::string_view target, wire::Headers headers = {}) {
    return ask(signed_request(method, target, "{}", std::move(headers))).body;
  }

  FixedCredentials credentials{{{std::string(kTestKey), std::string(kTestSecret)}}};
  Authenticator authenticator{credentials, wall_now};
  Router router{authenticator};
};

TEST_F(RouterTest, MatchesLiteralsAndParameters) {
  FunctionHandler submit = named("submit"), tags = named("tags"), special = named("special"), rest = named("rest");
  router.add("GET", "/v1/tags/{arn}", tags);
  router.add("GET", "/v1/tags/special", special);
  router.add("POST", "/v1/submitjob", submit);
  router.add("PUT", "/b/{bucket}/{key+}", rest);
  EXPECT_EQ(body("POST", "/v1/submitjob"), "submit|by=AKIDTEST");
  EXPECT_EQ(body("GET", "/v1/tags/arn%3Aaws%3Ax%2Fname"), "tags|arn=arn:aws:x/name|by=AKIDTEST");
  EXPECT_EQ(body("GET", "/v1/tags/special"), "special|by=AKIDTEST");
  EXPECT_EQ(body("PUT", "/b/x/a%20b/c"), "rest|bucket=x|key=a b/c|by=AKIDTEST");
  EXPECT_EQ(body("HEAD", "/v1/tags/x"), "tags|arn=x|by=AKIDTEST");
}

TEST_F(RouterTest, TargetsTakeTheLongestPrefix) {
  FunctionHandler logs = named("logs"), wide = named("wide");
  router.add_target("L", wide);
  router.add_target("Logs_20140328.", logs);
  EXPECT_EQ(body("POST", "/", {{"X-Amz-Target", "Logs_20140328.GetLogEvents"}}), "logs|op=GetLogEvents|by=AKIDTEST");
  EXPECT_EQ(body("POST", "/", {{"X-Amz-Target", "Lambda"}}), "wide|op=ambda|by=AKIDTEST");
}

TEST_F(RouterTest, UnknownOperationsHaveAwsShapes) {
  const Response rest = ask(signed_request("POST", "/v1/nothing", "{}"));
  EXPECT_EQ(rest.status, 404);
  EXPECT_EQ(rest.headers.get("x-amzn-errortype"), "UnknownOperationException");
  const Response target = ask(signed_request("POST", "/", "{}", {{"X-Amz-Target", "Nobody.Does"}}));
  EXPECT_EQ(target.status, 400);
  EXPECT_NE(target.body.find(R"("__type":"UnknownOperationException")"), std::string::npos);
}

TEST_F(RouterTest, StrangersLearnNothingButThatTheyAreStrangers) {
  FunctionHandler submit = named("submit");
  router.add("POST", "/v1/submitjob", submit);
  for (const char* path : {"/v1/submitjob", "/v1/nothing"}) {
    const Response none = ask(std::string("POST ") + path + " HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(none.status, 403) << path;
    EXPECT_EQ(none.headers.get("x-amzn-errortype"), "MissingAuthenticationTokenException");
    const Response wrong = ask(signed_request("POST", path, "{}", {}, std::nullopt, "guess"));
    EXPECT_EQ(wrong.status, 403);
    EXPECT_EQ(wrong.headers.get("x-amzn-errortype"), "InvalidSignatureException");
  }
}

TEST_F(RouterTest, PublicRoutesNeedNoSignature) {
  FunctionHandler health = named("health");
  router.add("GET", "/healthz", health, Access::kPublic);
  EXPECT_EQ(ask("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n").body, "health|by=");
  EXPECT_EQ(ask("DELETE /healthz HTTP/1.1\r\nHost: h\r\n\r\n").status, 403);
}

TEST_F(RouterTest, DoubleEncodingDoesNotReachAnotherRoute) {
  FunctionHandler open = named("open"), closed = named("closed");
  router.add("GET", "/open/{x}", open, Access::kPublic);
  router.add("GET", "/closed", closed);
  EXPECT_EQ(ask("GET /open/..%2Fclosed HTTP/1.1\r\nHost: h\r\n\r\n").body, "open|x=../closed|by=");
  EXPECT_EQ(ask("GET /open/../closed HTTP/1.1\r\nHost: h\r\n\r\n").status, 403);
  EXPECT_EQ(ask("GET /%63losed HTTP/1.1\r\nHost: h\r\n\r\n").status, 403);
}

using RouterDeathTest = RouterTest;
TEST_F(RouterDeathTest, MalformedPatternsAreOurOwnMistake) {
  FunctionHandler handler = named("x");
  EXPECT_DEATH(router.add("GET", "v1", handler), "starts with");
  EXPECT_DEATH(router.add("GET", "/{a+}/b", handler), "last");
  EXPECT_DEATH(router.add("GET", "/{}", handler), "written");
}

}  // namespace
}  // namespace teson::http
