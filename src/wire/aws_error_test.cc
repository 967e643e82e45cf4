#include "wire/aws_error.h"

#include <gtest/gtest.h>

namespace teson::wire {
namespace {

const AwsError kError = client_error("ClientException", "no <queue> \"x\"\n");

TEST(AwsError, RestJsonHasItsTypeInAHeader) {
  const RenderedError out = render_error(kError, Protocol::kRestJson, "id");
  EXPECT_EQ(out.status, 400);
  EXPECT_EQ(out.headers.get("x-amzn-errortype"), "ClientException");
  EXPECT_EQ(out.headers.get("content-type"), "application/json");
  EXPECT_EQ(out.body, R"({"message":"no <queue> \"x\"\n"})");
}

TEST(AwsError, Json11HasItsTypeInTheBody) {
  const RenderedError out = render_error(kError, Protocol::kJson11, "id");
  EXPECT_EQ(out.headers.get("content-type"), "application/x-amz-json-1.1");
  EXPECT_EQ(out.body, R"({"__type":"ClientException","message":"no <queue> \"x\"\n"})");
}

TEST(AwsError, S3IsXml) {
  const RenderedError out = render_error(client_error("NoSuchKey", "a<b", 404), Protocol::kS3Xml, "id-1", "/b/k&");
  EXPECT_EQ(out.status, 404);
  EXPECT_EQ(out.body,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>NoSuchKey</Code><Message>a&lt;b</Message>"
            "<Resource>/b/k&amp;</Resource><RequestId>id-1</RequestId></Error>");
}

TEST(AwsError, MessagesThatAreNotUtf8DoNotThrow) {
  EXPECT_EQ(render_error(client_error("C", "\xFF"), Protocol::kRestJson, "").body, "{\"message\":\"\xEF\xBF\xBD\"}");
}

TEST(AwsError, XmlEscapesWhatXmlCannotHold) { EXPECT_EQ(xml_escape("a\x01'\r\n"), "a\xEF\xBF\xBD&apos;&#13;\n"); }

TEST(AwsError, AuthFailuresHaveTheProtocolsCodes) {
  const std::pair<AuthErrorKind, std::pair<const char*, const char*>> cases[] = {
      {AuthErrorKind::kMissingToken, {"MissingAuthenticationTokenException", "AccessDenied"}},
      {AuthErrorKind::kIncomplete, {"IncompleteSignatureException", "AuthorizationHeaderMalformed"}},
      {AuthErrorKind::kUnknownKey, {"UnrecognizedClientException", "InvalidAccessKeyId"}},
      {AuthErrorKind::kMismatch, {"InvalidSignatureException", "SignatureDoesNotMatch"}},
      {AuthErrorKind::kExpired, {"InvalidSignatureException", "RequestTimeTooSkewed"}},
      {AuthErrorKind::kPayloadMismatch, {"InvalidSignatureException", "XAmzContentSHA256Mismatch"}}};
  for (const auto& [kind, codes] : cases) {
    const AwsError json = auth_error({kind, "m"}, Protocol::kRestJson);
    EXPECT_EQ(json.code, codes.first);
    EXPECT_EQ(json.status, 403);
    EXPECT_EQ(auth_error({kind, "m"}, Protocol::kS3Xml).code, codes.second);
  }
}

TEST(AwsError, BatchHasTwoShapes) {
  EXPECT_EQ(batch_error({ErrorKind::kNotFound, "m"}).code, "ClientException");
  EXPECT_EQ(batch_error({ErrorKind::kNotFound, "m"}).status, 400);
  const AwsError server = batch_error({ErrorKind::kUnavailable, "m"});
  EXPECT_EQ(server.code, "ServerException");
  EXPECT_EQ(server.status, 500);
  EXPECT_EQ(server.fault, Fault::kServer);
}

TEST(AwsError, UnknownOperations) {
  EXPECT_EQ(unknown_operation(Protocol::kRestJson).status, 404);
  EXPECT_EQ(unknown_operation(Protocol::kJson11).status, 400);
  EXPECT_EQ(unknown_operation(Protocol::kJson11).code, "UnknownOperationException");
}

}  // namespace
}  // namespace teson::wire
