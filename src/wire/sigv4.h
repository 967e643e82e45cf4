// AWS Signature Version 4: signing (clients) and verification (servers), in headers or in a presigned query.
//
// Source: AWS IAM user guide, "Create a signed AWS API request"; the vectors of AWS's SigV4 test suite are in
// sigv4_test.cc. Pure; any thread. Time comes in as an argument. Nothing here logs, and no message holds a secret.
//
// Paths are canonicalised as AWS does: the services s3* encode the path once, all others normalise the path that was
// sent and encode it again.
#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "wire/digest.h"
#include "wire/headers.h"
#include "wire/signing_key_cache.h"

namespace teson::wire {

inline constexpr std::string_view kSigV4Algorithm = "AWS4-HMAC-SHA256";
inline constexpr std::string_view kUnsignedPayload = "UNSIGNED-PAYLOAD";
inline constexpr std::string_view kStreamingSigned = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
inline constexpr std::string_view kStreamingSignedTrailer = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER";
inline constexpr std::string_view kStreamingUnsignedTrailer = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";

// A request as it is on the wire. Holds references only.
struct RequestView {
  std::string_view method;
  std::string_view path;   // percent-encoded, without the query
  std::string_view query;  // percent-encoded, without '?'
  const Headers& headers;
  std::string_view body;
};

// ---- Signing ----

struct SigningIdentity {
  std::string_view access_key_id;
  std::string_view secret_access_key;
  std::string_view session_token;  // may be empty
  std::string_view region;
  std::string_view service;
};

// The headers to add to the request: x-amz-date, x-amz-security-token if there is a token, authorization.
// `request.headers` must hold host and everything else to be signed; an x-amz-content-sha256 among them is the payload
// hash, else the body is hashed. Signs all headers given but those that proxies change (user-agent, expect,
// connection, x-amzn-trace-id, transfer-encoding, authorization).
Headers sign(const RequestView& request, const SigningIdentity& identity, Instant now);

// The query to send for a presigned URL, `request.query` included. Signs the host header alone, plus any other headers
// given. `expires_seconds` is 1 to 604800.
std::string presign(const RequestView& request, const SigningIdentity& identity, Instant now, int expires_seconds);

// ---- Verification ----

enum class AuthErrorKind {
  kMissingToken,     // no credentials at all
  kIncomplete,       // credentials that are not well formed, or that leave out what must be signed
  kUnknownKey,       // the access key id is not ours
  kMismatch,         // the signature is not what the secret gives
  kExpired,          // signed too long ago or for the future, or a presigned URL past its end
  kPayloadMismatch,  // x-amz-content-sha256 is not the body's hash
};

struct AuthError {
  AuthErrorKind kind;
  std::string message;
  std::string access_key_id = {};  // as claimed, if it could be read: nothing is proved by it
};

// The secret of an access key id, or nothing if there is no such key.
using SecretLookup = std::function<std::optional<std::string>(std::string_view access_key_id)>;

struct VerifyOptions {
  Duration allowed_skew = Duration::seconds(15 * 60);
  bool allow_unsigned_payload = false;  // UNSIGNED-PAYLOAD, and S3's presigned URLs
  bool allow_streaming = false;         // STREAMING-*: the body is aws-chunked (wire/aws_chunked.h)
  // The body is not at hand yet: the caller compares its hash with Verified::payload_hash as it arrives.
  bool body_comes_later = false;
  SigningKeyCache* cache = nullptr;  // optional; must outlive the call
};

// What a valid signature says, and what the chunks of a streaming body are verified with.
struct Verified {
  std::string access_key_id;
  std::string region;
  std::string service;
  std::string scope;         // "20150830/us-east-1/iam/aws4_request"
  std::string amz_date;      // "20150830T123600Z"
  std::string signature;     // 64 hexadecimal digits
  std::string payload_hash;  // hexadecimal hash or one of the constants above
  Digest signing_key;
  bool presigned = false;

  bool is_streaming() const { return payload_hash.starts_with("STREAMING-"); }
};

std::expected<Verified, AuthError> verify(const RequestView& request, const SecretLookup& secrets, Instant now,
                                          const VerifyOptions& options = {});

// ---- Pieces, for tests and for signatures of other things (chunks) ----

Digest derive_signing_key(std::string_view secret, std::string_view day, std::string_view region,
                          std::string_view service);
std::string canonical_path(std::string_view path, std::string_view service);
// Without the parameter X-Amz-Signature. A query that does not decode is an error.
Result<std::string> canonical_query(std::string_view query);
// `signed_headers`: lower case, sorted, separated by ';'. A name that the request lacks counts as empty.
std::string canonical_request(const RequestView& request, std::string_view canonical_path,
                              std::string_view canonical_query, std::string_view signed_headers,
                              std::string_view payload_hash);
std::string string_to_sign(std::string_view amz_date, std::string_view scope, std::string_view canonical_request);

}  // namespace teson::wire
