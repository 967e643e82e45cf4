#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "wire/bytes.h"
#include "wire/sigv4.h"
#include "wire/time_text.h"
#include "wire/uri.h"

namespace teson::wire {
namespace {

template <class T>
using Checked = std::expected<T, AuthError>;

std::unexpected<AuthError> reject(AuthErrorKind kind, std::string message) {
  return std::unexpected(AuthError{kind, std::move(message)});
}

std::unexpected<AuthError> incomplete(std::string message) {
  return reject(AuthErrorKind::kIncomplete, std::move(message));
}

// What the request claims, before anything is proved.
struct Claim {
  std::string credential;
  std::string signed_headers;
  std::string signature;
  std::string amz_date;
  int64_t expires_seconds = 0;  // presigned only
  bool presigned = false;
};

struct Scope {
  std::string access_key_id, day, region, service;
  std::string text() const { return fmt::format("{}/{}/{}/aws4_request", day, region, service); }
};

// The date that the string to sign holds: X-Amz-Date, or the Date header in either of its spellings.
Checked<std::string> header_date(const Headers& headers) {
  if (const auto amz = headers.find("x-amz-date")) return std::string(trimmed(*amz));
  const auto date = headers.find("date");
  if (!date) return incomplete("Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.");
  if (const std::optional<Instant> instant = parse_http_date(trimmed(*date))) return amz_date(*instant);
  return std::string(trimmed(*date));
}

Checked<Claim> claim_of_header(std::string_view value, const Headers& headers) {
  value = trimmed(value);
  if (!value.starts_with(kSigV4Algorithm)) {
    return incomplete(fmt::format(
        "The Authorization header must start with '{}': other signature versions are not supported.", kSigV4Algorithm));
  }
  value.remove_prefix(kSigV4Algorithm.size());
  if (value.empty() || (value.front() != ' ' && value.front() != '\t')) {
    return incomplete(fmt::format("'{}' in the Authorization header must be followed by a blank.", kSigV4Algorithm));
  }
  Claim claim;
  while (!(value = trimmed(value)).empty()) {
    const size_t end = std::min(value.find(','), value.size());
    const std::string_view piece = trimmed(value.substr(0, end));
    value.remove_prefix(std::min(end + 1, value.size()));
    const size_t equals = piece.find('=');
    if (equals == std::string_view::npos) {
      return incomplete("The Authorization header must hold name=value pairs separated by commas.");
    }
    const std::string_view name = piece.substr(0, equals);
    std::string* field = name == "Credential"      ? &claim.credential
                         : name == "SignedHeaders" ? &claim.signed_headers
                         : name == "Signature"     ? &claim.signature
                                                   : nullptr;
    if (field == nullptr || !field->empty()) {
      return incomplete("The Authorization header must hold Credential, SignedHeaders and Signature, once each.");
    }
    *field = piece.substr(equals + 1);
  }
  for (const auto& [name, text] : {std::pair("Credential", &claim.credential), std::pair("Signature", &claim.signature),
                                   std::pair("SignedHeaders", &claim.signed_headers)}) {
    if (text->empty()) return incomplete(fmt::format("Authorization header requires '{}' parameter.", name));
  }
  Checked<std::string> date = header_date(headers);
  if (!date) return std::unexpected(date.error());
  claim.amz_date = std::move(*date);
  return claim;
}

Checked<Claim> claim_of_query(const std::vector<QueryParameter>& parameters) {
  Claim claim;
  claim.presigned = true;
  std::string algorithm, expires;
  for (const QueryParameter& parameter : parameters) {
    std::string* field = parameter.name == "X-Amz-Algorithm"       ? &algorithm
                         : parameter.name == "X-Amz-Credential"    ? &claim.credential
                         : parameter.name == "X-Amz-Date"          ? &claim.amz_date
                         : parameter.name == "X-Amz-Expires"       ? &expires
                         : parameter.name == "X-Amz-SignedHeaders" ? &claim.signed_headers
                         : parameter.name == "X-Amz-Signature"     ? &claim.signature
                                                                   : nullptr;
    if (field == nullptr) continue;
    if (!field->empty()) return incomplete(fmt::format("The query holds '{}' more than once.", parameter.name));
    *field = parameter.value;
  }
  if (algorithm != kSigV4Algorithm) {
    return incomplete(fmt::format("X-Amz-Algorithm must be '{}'.", kSigV4Algorithm));
  }
  if (claim.credential.empty() || claim.amz_date.empty() || claim.signed_headers.empty() || expires.empty() ||
      claim.signature.empty()) {
    return incomplete(
        "AWS query-string parameters must include X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, X-Amz-Date, "
        "X-Amz-SignedHeaders and X-Amz-Expires.");
  }
  const auto [end, error] = std::from_chars(expires.data(), expires.data() + expires.size(), claim.expires_seconds);
  if (error != std::errc() || end != expires.data() + expires.size() || claim.expires_seconds < 1 ||
      claim.expires_seconds > 604800) {
    return incomplete("X-Amz-Expires must be a number of seconds from 1 to 604800.");
  }
  return claim;
}

Checked<Claim> claim_of(const RequestView& request) {
  const size_t authorizations = request.headers.count("authorization");
  if (authorizations > 1) return incomplete("The request has more than one Authorization header.");
  const Result<std::vector<QueryParameter>> parameters = parse_query(request.query);
  if (!parameters) return incomplete(fmt::format("The query string is malformed: {}.", parameters.error().message));
  const bool in_query = std::any_of(parameters->begin(), parameters->end(), [](const QueryParameter& p) {
    return p.name == "X-Amz-Algorithm" || p.name == "X-Amz-Signature";
  });
  if (authorizations == 1 && in_query) {
    return incomplete("Only one of the Authorization header and the query's X-Amz-Signature may be given.");
  }
  if (authorizations == 1) return claim_of_header(request.headers.get("authorization"), request.headers);
  if (in_query) return claim_of_query(*parameters);
  return reject(AuthErrorKind::kMissingToken, "Missing Authentication Token");
}

bool is_scope_word(std::string_view word) {
  return !word.empty() && word.size() <= 64 && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
}

Checked<Scope> scope_of(const Claim& claim) {
  // From the right, as an access key id may hold anything but we only know the other four parts' number.
  std::string_view rest = claim.credential;
  std::string_view parts[4];
  for (int i = 3; i >= 0; --i) {
    const size_t slash = rest.rfind('/');
    if (slash == std::string_view::npos) {
      return incomplete(
          "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/aws4_request.");
    }
    parts[i] = rest.substr(slash + 1);
    rest = rest.substr(0, slash);
  }
  if (!is_scope_word(rest)) return incomplete("Credential must begin with an access key id.");
  if (parts[3] != "aws4_request") return incomplete("Credential should be scoped with the terminator 'aws4_request'.");
  if (!is_scope_word(parts[1]) || !is_scope_word(parts[2])) {
    return incomplete("Credential should be scoped to a region and a service of letters, digits, '-', '_' and '.'.");
  }
  if (parts[0] != std::string_view(claim.amz_date).substr(0, 8)) {
    return incomplete(
        fmt::format("Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: "
                    "'{}' != '{}'.",
                    parts[0].substr(0, 16), claim.amz_date.substr(0, 8)));
  }
  return Scope{std::string(rest), std::string(parts[0]), std::string(parts[1]), std::string(parts[2])};
}

std::optional<AuthError> check_signed_headers(const RequestView& request, std::string_view signed_headers) {
  std::vector<std::string_view> names;
  for (std::string_view rest = signed_headers;;) {
    const size_t end = std::min(rest.find(';'), rest.size());
    names.push_back(rest.substr(0, end));
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  for (size_t i = 0; i < names.size(); ++i) {
    const bool ordered = i == 0 || names[i - 1] < names[i];
    if (names[i].empty() || !ordered || names[i] != lower_case(names[i])) {
      return AuthError{AuthErrorKind::kIncomplete,
                       "SignedHeaders must be header names in lower case, sorted, each once, separated by ';'."};
    }
  }
  const auto is_signed = [&](std::string_view name) {
    return std::binary_search(names.begin(), names.end(), std::string_view(lower_case(name)));
  };
  if (!is_signed("host")) return AuthError{AuthErrorKind::kIncomplete, "'Host' must be among the SignedHeaders."};
  for (const Header& field : request.headers) {
    const bool amazon =
        field.name.size() > 6 && equal_ignoring_case(std::string_view(field.name).substr(0, 6), "x-amz-");
    if (amazon && !is_signed(field.name)) {
      return AuthError{AuthErrorKind::kIncomplete,
                       fmt::format("The header '{}' is in the request but not among the SignedHeaders.", field.name)};
    }
  }
  for (const std::string_view name : names) {
    if (!request.headers.find(name)) {
      return AuthError{AuthErrorKind::kMismatch,
                       fmt::format("The signed header '{}' is not in the request that arrived.", name)};
    }
  }
  return std::nullopt;
}

std::optional<AuthError> check_time(const Claim& claim, Instant now, Duration skew) {
  const std::optional<Instant> when = parse_amz_date(claim.amz_date);
  if (!when) {
    return AuthError{AuthErrorKind::kIncomplete,
                     "Date must be in ISO-8601 'basic format', for example 20150830T123600Z."};
  }
  if (*when > now + skew) {
    return AuthError{AuthErrorKind::kExpired,
                     fmt::format("Signature not yet current: {} is still later than {} ({} + {} min.)", claim.amz_date,
                                 amz_date(now + skew), amz_date(now), skew.whole_seconds() / 60)};
  }
  if (claim.presigned) {
    const Instant end = *when + Duration::seconds(claim.expires_seconds);
    if (now <= end) return std::nullopt;
    return AuthError{
        AuthErrorKind::kExpired,
        fmt::format("Request has expired: its URL was good until {}, now it is {}", amz_date(end), amz_date(now))};
  }
  if (*when < now - skew) {
    return AuthError{AuthErrorKind::kExpired,
                     fmt::format("Signature expired: {} is now earlier than {} ({} - {} min.)", claim.amz_date,
                                 amz_date(now - skew), amz_date(now), skew.whole_seconds() / 60)};
  }
  return std::nullopt;
}

// What the last line of the canonical request must be, checked against the body where the body is at hand.
Checked<std::string> payload_hash_of(const RequestView& request, const Claim& claim, const Scope& scope,
                                     const VerifyOptions& options) {
  const std::optional<std::string_view> given = request.headers.find("x-amz-content-sha256");
  if (!given) {
    if (claim.presigned && scope.service.starts_with("s3") && options.allow_unsigned_payload)
      return std::string(kUnsignedPayload);
    if (options.body_comes_later) return incomplete("The header 'x-amz-content-sha256' is required for this request.");
    return sha256_hex(request.body);
  }
  if (*given == kUnsignedPayload) {
    if (options.allow_unsigned_payload) return std::string(*given);
    return incomplete("UNSIGNED-PAYLOAD is not accepted here: x-amz-content-sha256 must be the SHA-256 of the body.");
  }
  if (*given == kStreamingSigned || *given == kStreamingSignedTrailer || *given == kStreamingUnsignedTrailer) {
    if (options.allow_streaming) return std::string(*given);
    return incomplete("Chunked uploads are not accepted here: x-amz-content-sha256 must be the SHA-256 of the body.");
  }
  if (given->size() != 64 || !from_hex(*given)) {
    return incomplete("x-amz-content-sha256 must be UNSIGNED-PAYLOAD, one of STREAMING-*, or a valid SHA-256 value.");
  }
  if (!options.body_comes_later && lower_case(*given) != sha256_hex(request.body)) {
    return reject(AuthErrorKind::kPayloadMismatch,
                  "The provided 'x-amz-content-sha256' header does not match what was computed.");
  }
  return std::string(*given);
}

Checked<Verified> verify_claim(const RequestView& request, const SecretLookup& secrets, Instant now,
                               const VerifyOptions& options, Claim& claim, Scope& scope) {
  if (auto error = check_signed_headers(request, claim.signed_headers)) return std::unexpected(*error);
  if (auto error = check_time(claim, now, options.allowed_skew)) return std::unexpected(*error);
  const std::optional<std::string> secret = secrets(scope.access_key_id);
  if (!secret) {
    return reject(AuthErrorKind::kUnknownKey,
                  fmt::format("The security token included in the request is invalid: the access key {} is not, or no "
                              "longer, one of this server's",
                              scope.access_key_id));
  }
  Checked<std::string> payload_hash = payload_hash_of(request, claim, scope, options);
  if (!payload_hash) return std::unexpected(payload_hash.error());
  const Result<std::string> query = canonical_query(request.query);
  if (!query) return incomplete(fmt::format("The query string is malformed: {}.", query.error().message));

  const std::string scope_text = scope.text();
  const std::optional<Digest> cached =
      options.cache ? options.cache->find(scope.access_key_id, *secret, scope_text) : std::nullopt;
  const Digest key = cached ? *cached : derive_signing_key(*secret, scope.day, scope.region, scope.service);
  const std::string canonical = canonical_request(request, canonical_path(request.path, scope.service), *query,
                                                  claim.signed_headers, *payload_hash);
  const std::string expected = hex(hmac_sha256(as_text(key), string_to_sign(claim.amz_date, scope_text, canonical)));
  if (!equal_in_constant_time(expected, claim.signature)) {
    return reject(
        AuthErrorKind::kMismatch,
        "The request signature we calculated does not match the signature you provided. Check your AWS Secret "
        "Access Key and signing method. Consult the service documentation for details.");
  }
  if (options.cache && !cached) options.cache->put(scope.access_key_id, *secret, scope_text, key);
  return Verified{std::move(scope.access_key_id),
                  std::move(scope.region),
                  std::move(scope.service),
                  scope_text,
                  std::move(claim.amz_date),
                  std::move(claim.signature),
                  std::move(*payload_hash),
                  key,
                  claim.presigned};
}

}  // namespace

std::expected<Verified, AuthError> verify(const RequestView& request, const SecretLookup& secrets, Instant now,
                                          const VerifyOptions& options) {
  Checked<Claim> claim = claim_of(request);
  if (!claim) return std::unexpected(claim.error());
  Checked<Scope> scope = scope_of(*claim);
  if (!scope) return std::unexpected(scope.error());
  std::string claimed = scope->access_key_id;
  Checked<Verified> verified = verify_claim(request, secrets, now, options, *claim, *scope);
  if (!verified) verified.error().access_key_id = std::move(claimed);
  return verified;
}

}  // namespace teson::wire
