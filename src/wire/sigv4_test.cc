#include "wire/sigv4.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "wire/time_text.h"

namespace teson::wire {
namespace {

constexpr std::string_view kKeyId = "AKIDEXAMPLE";
constexpr std::string_view kSecret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const Instant kNow = *parse_amz_date("20150830T123600Z");

std::optional<std::string> lookup(std::string_view id) {
  if (id == kKeyId) return std::string(kSecret);
  return std::nullopt;
}

SigningIdentity identity(std::string_view service = "service") { return {kKeyId, kSecret, "", "us-east-1", service}; }

// ---- AWS's SigV4 test suite: signatures as published ----

struct Vector {
  const char* name;
  const char* method;
  const char* path;
  const char* query;
  Headers headers;
  const char* body;
  const char* signature;
};

const Headers kHost = {{"Host", "example.amazonaws.com"}};
constexpr const char* kUnreserved = "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const std::vector<Vector>& vectors() {
  static const std::vector<Vector> all = {
      {"get-vanilla", "GET", "/", "", kHost, "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
      {"get-vanilla-query-order-key-case", "GET", "/", "Param2=value2&Param1=value1", kHost, "",
       "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
      {"get-vanilla-empty-query-key", "GET", "/", "Param1=value1", kHost, "",
       "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"},
      {"get-unreserved", "GET", kUnreserved, "", kHost, "",
       "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
      {"get-utf8", "GET", "/\xE1\x88\xB4", "", kHost, "",
       "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
      {"get-space", "GET", "/example space/", "", kHost, "",
       "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"},
      {"normalize-path/get-relative", "GET", "/example/..", "", kHost, "",
       "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
      {"normalize-path/get-slash", "GET", "//", "", kHost, "",
       "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
      {"get-header-value-trim",
       "GET",
       "/",
       "",
       {{"Host", "example.amazonaws.com"}, {"My-Header1", " value1"}, {"My-Header2", " \"a   b   c\""}},
       "",
       "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
      {"post-vanilla", "POST", "/", "", kHost, "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
      {"post-x-www-form-urlencoded",
       "POST",
       "/",
       "",
       {{"Content-Type", "application/x-www-form-urlencoded"}, {"Host", "example.amazonaws.com"}},
       "Param1=value1",
       "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
  };
  return all;
}

std::string signature_in(const Headers& added) {
  const std::string authorization(added.get("authorization"));
  return authorization.substr(authorization.find("Signature=") + 10);
}

TEST(SigV4, SignsTheOfficialVectors) {
  for (const Vector& v : vectors()) {
    const Headers added = sign({v.method, v.path, v.query, v.headers, v.body}, identity(), kNow);
    EXPECT_EQ(signature_in(added), v.signature) << v.name;
  }
}

TEST(SigV4, VerifiesTheOfficialVectorsAndNothingNear) {
  for (const Vector& v : vectors()) {
    Headers sent = v.headers;
    for (const Header& field : sign({v.method, v.path, v.query, v.headers, v.body}, identity(), kNow)) {
      sent.add(field.name, field.value);
    }
    EXPECT_TRUE(verify({v.method, v.path, v.query, sent, v.body}, lookup, kNow)) << v.name;
    const std::string other_body = std::string(v.body) + "x";
    for (const RequestView& forged :
         {RequestView{"PUT", v.path, v.query, sent, v.body}, RequestView{v.method, "/other", v.query, sent, v.body},
          RequestView{v.method, v.path, "Param1=value9", sent, v.body},
          RequestView{v.method, v.path, v.query, sent, other_body}}) {
      const auto result = verify(forged, lookup, kNow);
      ASSERT_FALSE(result) << v.name;
      EXPECT_EQ(result.error().kind, AuthErrorKind::kMismatch) << v.name;
    }
  }
}

TEST(SigV4, DerivesThePublishedKey) {
  EXPECT_EQ(hex(derive_signing_key(kSecret, "20150830", "us-east-1", "iam")),
            "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9");
}

TEST(SigV4, SignsTheDocumentedListUsersRequest) {
  const Headers headers = {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"},
                           {"Host", "iam.amazonaws.com"}};
  const Headers added = sign({"GET", "/", "Action=ListUsers&Version=2010-05-08", headers, ""}, identity("iam"), kNow);
  EXPECT_EQ(added.get("authorization"),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, "
            "SignedHeaders=content-type;host;x-amz-date, "
            "Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7");
}

// ---- botocore, tests/golden/sigv4_golden.py ----

nlohmann::json golden() {
  std::ifstream file(TESON_SOURCE_DIR "/tests/golden/sigv4.json");
  return nlohmann::json::parse(file);
}

Headers headers_of(const nlohmann::json& request) {
  Headers headers;
  for (const auto& pair : request["headers"]) headers.add(pair[0], pair[1]);
  return headers;
}

TEST(SigV4, AcceptsWhatBotocoreSends) {
  const nlohmann::json file = golden();
  const Instant now = *parse_amz_date(file["now"].get<std::string>());
  ASSERT_GE(file["requests"].size(), 14U);
  for (const auto& request : file["requests"]) {
    const Headers headers = headers_of(request);
    const std::string method = request["method"], path = request["path"], query = request["query"],
                      body = request["body"];
    VerifyOptions options;
    options.allow_unsigned_payload = request["service"] == "s3";
    const auto verified = verify({method, path, query, headers, body}, lookup, now, options);
    ASSERT_TRUE(verified) << request["name"] << ": " << verified.error().message;
    EXPECT_EQ(verified->access_key_id, kKeyId);
    EXPECT_EQ(verified->service, request["service"].get<std::string>());
    EXPECT_EQ(verified->region, "us-east-1");
    const auto forged = verify({method, path + "x", query, headers, body}, lookup, now, options);
    ASSERT_FALSE(forged) << request["name"];
    EXPECT_EQ(forged.error().kind, AuthErrorKind::kMismatch) << request["name"];
  }
}

TEST(SigV4, SignsAsBotocoreDoes) {
  const nlohmann::json file = golden();
  const Instant now = *parse_amz_date(file["now"].get<std::string>());
  int compared = 0;
  for (const auto& request : file["requests"]) {
    if (request["kind"] != "header" && request["kind"] != "s3") continue;
    Headers headers = headers_of(request);
    const std::string expected(headers.get("authorization"));
    for (const char* name : {"authorization", "x-amz-date", "content-length"}) headers.remove(name);
    const std::string method = request["method"], path = request["path"], query = request["query"],
                      body = request["body"];
    const std::string service = request["service"];
    const Headers added = sign({method, path, query, headers, body}, identity(service), now);
    EXPECT_EQ(added.get("authorization"), expected) << request["name"];
    ++compared;
  }
  EXPECT_GE(compared, 10);
}

// ---- Refusals ----

struct Attempt {
  Headers headers = {{"Host", "example.amazonaws.com"}};
  std::string query;
  std::string body = "{}";
  Instant now = kNow;
  VerifyOptions options = {};

  Attempt& sign_it(Instant when = kNow, SigningIdentity who = identity()) {
    for (const Header& field : sign({"POST", "/v1/x", query, headers, body}, who, when)) {
      headers.add(field.name, field.value);
    }
    return *this;
  }
  Attempt& replace(std::string_view header, std::string_view from, std::string_view to) {
    std::string value(headers.get(header));
    const size_t at = value.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    headers.set(header, value.replace(at, from.size(), to));
    return *this;
  }
  std::expected<Verified, AuthError> result() const {
    return verify({"POST", "/v1/x", query, headers, body}, lookup, now, options);
  }
  AuthErrorKind kind() const {
    const auto r = result();
    EXPECT_FALSE(r);
    return r ? AuthErrorKind::kMissingToken : r.error().kind;
  }
};

TEST(SigV4Refusals, NoCredentialsAtAll) { EXPECT_EQ(Attempt().kind(), AuthErrorKind::kMissingToken); }

TEST(SigV4Refusals, UnknownKeyAndWrongSecret) {
  SigningIdentity stranger = identity();
  stranger.access_key_id = "AKIDOTHER";
  EXPECT_EQ(Attempt().sign_it(kNow, stranger).kind(), AuthErrorKind::kUnknownKey);
  SigningIdentity guesser = identity();
  guesser.secret_access_key = "guess";
  const Attempt attempt = Attempt().sign_it(kNow, guesser);
  EXPECT_EQ(attempt.kind(), AuthErrorKind::kMismatch);
  EXPECT_EQ(attempt.result().error().message.find(kSecret), std::string::npos);
}

TEST(SigV4Refusals, SkewIsFifteenMinutesEitherWay) {
  const Duration edge = Duration::seconds(900);
  for (const Duration offset : {edge, Duration{} - edge}) {
    Attempt attempt = Attempt().sign_it();
    attempt.now = kNow + offset;
    EXPECT_TRUE(attempt.result()) << offset.micros;
  }
  Attempt late = Attempt().sign_it();
  late.now = kNow + edge + Duration{1};
  EXPECT_EQ(late.kind(), AuthErrorKind::kExpired);
  EXPECT_EQ(late.result().error().message,
            "Signature expired: 20150830T123600Z is now earlier than 20150830T123600Z (20150830T125100Z - 15 min.)");
  Attempt early = Attempt().sign_it();
  early.now = kNow - edge - Duration::seconds(1);
  EXPECT_EQ(early.kind(), AuthErrorKind::kExpired);
  EXPECT_NE(early.result().error().message.find("not yet current"), std::string::npos);
}

TEST(SigV4Refusals, AuthorizationThatIsNotWellFormed) {
  EXPECT_EQ(Attempt().sign_it().replace("authorization", "AWS4-HMAC-SHA256", "AWS").kind(), AuthErrorKind::kIncomplete);
  EXPECT_EQ(Attempt().sign_it().replace("authorization", "AWS4-HMAC-SHA256 ", "AWS4-HMAC-SHA256").kind(),
            AuthErrorKind::kIncomplete);
  EXPECT_EQ(Attempt().sign_it().replace("authorization", "Signature=", "Sig=").kind(), AuthErrorKind::kIncomplete);
  EXPECT_EQ(Attempt().sign_it().replace("authorization", "SignedHeaders=", "Signature=a, SignedHeaders=").kind(),
            AuthErrorKind::kIncomplete);
  EXPECT_EQ(Attempt().sign_it().replace("authorization", "/aws4_request", "").kind(), AuthErrorKind::kIncomplete);
  EXPECT_EQ(Attempt().sign_it().replace("authorization", "aws4_request", "aws5_request").kind(),
            AuthErrorKind::kIncomplete);
  EXPECT_EQ(Attempt().sign_it().replace("authorization", "us-east-1", "").kind(), AuthErrorKind::kIncomplete);
  EXPECT_EQ(Attempt().sign_it().replace("authorization", "20150830/", "20150831/").kind(), AuthErrorKind::kIncomplete);
  EXPECT_EQ(Attempt().sign_it().replace("authorization", "host;x-amz-date", "x-amz-date;host").kind(),
            AuthErrorKind::kIncomplete);
  EXPECT_EQ(Attempt().sign_it().replace("authorization", "host;x-amz-date", "Host;x-amz-date").kind(),
            AuthErrorKind::kIncomplete);
  EXPECT_EQ(Attempt().sign_it().replace("authorization", "host;x-amz-date", "x-amz-date").kind(),
            AuthErrorKind::kIncomplete);
  EXPECT_EQ(Attempt().sign_it().replace("authorization", "host;x-amz-date", "host;x-absent;x-amz-date").kind(),
            AuthErrorKind::kMismatch);
  EXPECT_EQ(Attempt().sign_it().replace("x-amz-date", "20150830T123600Z", "20150830T123600").kind(),
            AuthErrorKind::kIncomplete);
  Attempt doubled = Attempt().sign_it();
  doubled.headers.add("Authorization", std::string(doubled.headers.get("authorization")));
  EXPECT_EQ(doubled.kind(), AuthErrorKind::kIncomplete);
}

TEST(SigV4Refusals, AmazonHeadersMustBeSigned) {
  Attempt attempt = Attempt().sign_it();
  attempt.headers.add("User-Agent", "x");
  EXPECT_TRUE(attempt.result());
  attempt.headers.add("X-Amz-Target", "SageMaker.DeleteEverything");
  EXPECT_EQ(attempt.kind(), AuthErrorKind::kIncomplete);
  EXPECT_NE(attempt.result().error().message.find("X-Amz-Target"), std::string::npos);
}

TEST(SigV4Refusals, CommasWithoutBlanksAndADateHeaderAreFine) {
  Attempt attempt = Attempt().sign_it();
  attempt.replace("authorization", ", SignedHeaders", ",SignedHeaders")
      .replace("authorization", ", Signature", ",Signature");
  EXPECT_TRUE(attempt.result());
  // Signed by hand with the Date header in place of x-amz-date.
  Attempt dated;
  dated.headers.add("Date", "Sun, 30 Aug 2015 12:36:00 GMT");
  const RequestView view{"POST", "/v1/x", "", dated.headers, dated.body};
  const std::string scope = "20150830/us-east-1/service/aws4_request";
  const std::string canonical = canonical_request(view, "/v1/x", "", "date;host", sha256_hex(dated.body));
  const Digest key = derive_signing_key(kSecret, "20150830", "us-east-1", "service");
  const std::string signature = hex(hmac_sha256(as_text(key), string_to_sign("20150830T123600Z", scope, canonical)));
  dated.headers.add("Authorization", "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/" + scope +
                                         ", SignedHeaders=date;host, Signature=" + signature);
  EXPECT_TRUE(dated.result());
}

TEST(SigV4Payload, DeclaredHashMustBeTheBodys) {
  Attempt good;
  good.headers.add("x-amz-content-sha256", sha256_hex("{}"));
  EXPECT_TRUE(good.sign_it().result());
  Attempt wrong;
  wrong.headers.add("x-amz-content-sha256", sha256_hex("{ }"));
  EXPECT_EQ(wrong.sign_it().kind(), AuthErrorKind::kPayloadMismatch);
  wrong.options.body_comes_later = true;
  const auto later = wrong.result();
  ASSERT_TRUE(later);
  EXPECT_EQ(later->payload_hash, sha256_hex("{ }"));
  Attempt nonsense;
  nonsense.headers.add("x-amz-content-sha256", "abc");
  EXPECT_EQ(nonsense.sign_it().kind(), AuthErrorKind::kIncomplete);
}

TEST(SigV4Payload, UnsignedAndStreamingOnlyWhereAllowed) {
  Attempt attempt;
  attempt.headers.add("x-amz-content-sha256", "UNSIGNED-PAYLOAD");
  EXPECT_EQ(attempt.sign_it().kind(), AuthErrorKind::kIncomplete);
  attempt.options.allow_unsigned_payload = true;
  EXPECT_TRUE(attempt.result());
  Attempt streaming;
  streaming.headers.add("x-amz-content-sha256", std::string(kStreamingSigned));
  EXPECT_EQ(streaming.sign_it().kind(), AuthErrorKind::kIncomplete);
  streaming.options.allow_streaming = true;
  ASSERT_TRUE(streaming.result());
  EXPECT_TRUE(streaming.result()->is_streaming());
}

TEST(SigV4Presigned, HoldsUntilItExpiresAndNotBeforeItWasMade) {
  const Headers headers = {{"Host", "localhost:8790"}};
  const std::string query = presign({"GET", "/v1/x", "a=b", headers, ""}, identity(), kNow, 3600);
  const auto at = [&](Instant now, std::string_view q) {
    return verify({"GET", "/v1/x", q, headers, ""}, lookup, now);
  };
  EXPECT_TRUE(at(kNow, query)->presigned);
  EXPECT_TRUE(at(kNow + Duration::seconds(3600), query));
  EXPECT_EQ(at(kNow + Duration::seconds(3600) + Duration{1}, query).error().kind, AuthErrorKind::kExpired);
  EXPECT_EQ(at(kNow - Duration::seconds(901), query).error().kind, AuthErrorKind::kExpired);
  EXPECT_EQ(at(kNow, query + "&a=c").error().kind, AuthErrorKind::kMismatch);
}

TEST(SigV4Presigned, ExpiryIsBounded) {
  const Headers headers = {{"Host", "localhost:8790"}};
  for (const auto& [seconds, good] : {std::pair(0, false), {1, true}, {604800, true}, {604801, false}, {-5, false}}) {
    const std::string query = presign({"GET", "/", "", headers, ""}, identity(), kNow, seconds);
    EXPECT_EQ(verify({"GET", "/", query, headers, ""}, lookup, kNow).has_value(), good) << seconds;
  }
  const std::string query = presign({"GET", "/", "", headers, ""}, identity(), kNow, 60);
  for (const char* parameter : {"X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-SignedHeaders"}) {
    std::string without = query;
    without.replace(without.find(parameter), 7, "X-Other");
    const auto result = verify({"GET", "/", without, headers, ""}, lookup, kNow);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, AuthErrorKind::kIncomplete) << parameter;
  }
}

TEST(SigningKeyCache, ServesVerifiedKeysAndStaysBounded) {
  SigningKeyCache cache(2);
  Attempt attempt = Attempt().sign_it();
  attempt.options.cache = &cache;
  EXPECT_TRUE(attempt.result());
  EXPECT_EQ(cache.size(), 1U);
  const std::string scope = "20150830/us-east-1/service/aws4_request";
  EXPECT_EQ(cache.find(kKeyId, kSecret, scope), derive_signing_key(kSecret, "20150830", "us-east-1", "service"));
  EXPECT_EQ(cache.find(kKeyId, "another secret", scope), std::nullopt);
  EXPECT_TRUE(attempt.result());
  EXPECT_EQ(cache.size(), 1U);

  attempt.replace("authorization", "Signature=", "Signature=0");
  EXPECT_FALSE(attempt.result());
  cache.put(kKeyId, kSecret, "a", {});
  cache.put(kKeyId, kSecret, "b", {});
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_EQ(cache.find(kKeyId, kSecret, scope), std::nullopt);
}

TEST(SigningKeyCache, IsNotFilledByBadSignatures) {
  SigningKeyCache cache;
  Attempt attempt = Attempt().sign_it();
  attempt.options.cache = &cache;
  attempt.body = "forged";
  EXPECT_EQ(attempt.kind(), AuthErrorKind::kMismatch);
  EXPECT_EQ(cache.size(), 0U);
}

}  // namespace
}  // namespace teson::wire
