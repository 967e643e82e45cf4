// Roles, and what the audit log hears, through the router.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "api/http/client_testing.h"
#include "api/http/request_parser.h"
#include "api/http/router.h"

namespace teson::http {
namespace {

using testing::HasSubstr;

class Records final : public AuditSink {
 public:
  void record(AuditRecord record) override { all.push_back(std::move(record)); }
  std::vector<AuditRecord> all;
};

// /v1/<need>: an operation of that need, which touches "thing" and answers with the status that the query names.
class NeedyHandler final : public Handler {
 public:
  void handle(Request request, Reply reply) override {
    ++handled;
    request.touches("thing");
    if (request.raw_query == "fail") return reply(error_response(request, wire::client_error("NoException", "no")));
    reply(json_response(request, "{}"));
  }
  Action action(const Request& request) const override {
    if (request.path == "/v1/read") return {"x:Read", Need::kRead};
    if (request.path == "/v1/change") return {"x:Change", Need::kChange};
    return {"x:Rule", Need::kAdmin};
  }
  int handled = 0;
};

class AccessTest : public testing::Test {
 protected:
  AccessTest() { router.add("POST", "/v1/{name}", handler); }

  Response ask(Role role, const std::string& target) {
    credentials.role = role;
    RequestParser parser({});
    const std::string bytes = signed_request("POST", target, "{}");
    size_t at = 0;
    while (!parser.done() && at < bytes.size())
      at += parser.put(std::string_view(bytes).substr(at)).value_or(bytes.size());
    Request request = parser.take();
    request.remote = "127.0.0.1:5";
    std::optional<Response> got;
    router.handle(std::move(request), [&](Response response) { got = std::move(response); });
    return got.value_or(Response{0, {}, ""});
  }
  int status(Role role, const std::string& target) { return ask(role, target).status; }

  struct OneKey final : Credentials {
    std::optional<KeyHolder> find(std::string_view id) const override {
      if (id != kTestKey || revoked) return std::nullopt;
      return KeyHolder{std::string(kTestSecret), {"ana", role}};
    }
    Role role = Role::kUser;
    bool revoked = false;
  };
  OneKey credentials;
  Authenticator authenticator{credentials, wall_now};
  Records records;
  NeedyHandler handler;
  Router router{authenticator, &records};
};

TEST_F(AccessTest, ARoleMayWhatItsNeedSays) {
  EXPECT_EQ(status(Role::kReadOnly, "/v1/read"), 200);
  EXPECT_EQ(status(Role::kReadOnly, "/v1/change"), 403);
  EXPECT_EQ(status(Role::kReadOnly, "/v1/rule"), 403);
  EXPECT_EQ(status(Role::kUser, "/v1/read"), 200);
  EXPECT_EQ(status(Role::kUser, "/v1/change"), 200);
  EXPECT_EQ(status(Role::kUser, "/v1/rule"), 403);
  EXPECT_EQ(status(Role::kAdmin, "/v1/read"), 200);
  EXPECT_EQ(status(Role::kAdmin, "/v1/change"), 200);
  EXPECT_EQ(status(Role::kAdmin, "/v1/rule"), 200);
  EXPECT_EQ(handler.handled, 6) << "what is refused never reaches the handler";
}

TEST_F(AccessTest, ARefusalNamesUserActionAndWhatWouldBeRight) {
  const Response refused = ask(Role::kReadOnly, "/v1/change");
  EXPECT_EQ(refused.headers.get("x-amzn-errortype"), "AccessDeniedException");
  EXPECT_EQ(refused.body,
            "{\"message\":\"User: ana is not authorized to perform: x:Change because its role is read-only and a "
            "read-only user changes nothing: ask an admin to do it, or for another role (teson user role ana user)\"}");
  EXPECT_THAT(ask(Role::kUser, "/v1/rule").body, HasSubstr("only admins may"));
}

TEST_F(AccessTest, AHandlerThatSaysNothingOfItsNeedsIsForAdmins) {
  FunctionHandler plain([](const Request& request, const Reply& reply) { reply(json_response(request, "{}")); });
  router.add("POST", "/plain", plain);
  EXPECT_EQ(status(Role::kUser, "/plain"), 403);
  EXPECT_EQ(status(Role::kAdmin, "/plain"), 200);
}

TEST_F(AccessTest, TheAuditLogHearsOfChangesAndRefusalsAlone) {
  ask(Role::kUser, "/v1/read");
  ASSERT_TRUE(records.all.empty());
  ask(Role::kUser, "/v1/change");
  ask(Role::kUser, "/v1/change?fail");
  ask(Role::kUser, "/v1/rule");
  credentials.revoked = true;
  ask(Role::kUser, "/v1/read");
  ASSERT_EQ(records.all.size(), 4u);
  const auto expect = [&](size_t n, const char* user, const char* action, const char* resource, const char* outcome) {
    const AuditRecord& record = records.all[n];
    EXPECT_EQ(record.user, user);
    EXPECT_EQ(record.key, kTestKey);
    EXPECT_EQ(record.action, action);
    EXPECT_EQ(record.resource, resource);
    EXPECT_EQ(record.outcome, outcome);
    EXPECT_EQ(record.source, "127.0.0.1:5");
  };
  expect(0, "ana", "x:Change", "thing", "ok");
  expect(1, "ana", "x:Change", "thing", "NoException");
  expect(2, "ana", "x:Rule", "", "AccessDeniedException");
  expect(3, "", "POST /v1/read", "", "UnrecognizedClientException");
}

TEST_F(AccessTest, ARevokedKeyIsRefusedWithItsId) {
  credentials.revoked = true;
  const Response refused = ask(Role::kAdmin, "/v1/read");
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, HasSubstr("the access key AKIDTEST is not, or no longer, one of this server's"));
}

}  // namespace
}  // namespace teson::http
