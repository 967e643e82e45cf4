// The shared pieces and the signing side; verification is in sigv4_verify.cc.
#include "wire/sigv4.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "wire/time_text.h"
#include "wire/uri.h"

namespace teson::wire {
namespace {

// As botocore: what proxies and the transport add or change on the way.
constexpr std::array<std::string_view, 6> kNeverSigned = {"authorization", "connection",      "expect",
                                                          "user-agent",    "x-amzn-trace-id", "transfer-encoding"};

bool is_s3(std::string_view service) { return service.starts_with("s3"); }

// Blanks at the ends go, runs of blanks inside become one space.
void append_folded(std::string& out, std::string_view value) {
  bool blank = false;
  for (const char c : trimmed(value)) {
    if (c == ' ' || c == '\t') {
      blank = true;
      continue;
    }
    if (blank) out += ' ';
    blank = false;
    out += c;
  }
}

void append_canonical_header(std::string& out, const Headers& headers, std::string_view name) {
  out.append(name).append(1, ':');
  bool first = true;
  for (const Header& field : headers) {
    if (!equal_ignoring_case(field.name, name)) continue;
    if (!first) out += ',';
    first = false;
    append_folded(out, field.value);
  }
  out += '\n';
}

std::string signable_headers(const Headers& headers) {
  std::vector<std::string> names;
  for (const Header& field : headers) {
    std::string name = lower_case(field.name);
    if (std::find(kNeverSigned.begin(), kNeverSigned.end(), name) == kNeverSigned.end()) {
      names.push_back(std::move(name));
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return fmt::format("{}", fmt::join(names, ";"));
}

std::string scope_of(const SigningIdentity& identity, std::string_view amz_date) {
  return fmt::format("{}/{}/{}/aws4_request", amz_date.substr(0, 8), identity.region, identity.service);
}

std::string signature_of(const RequestView& request, const SigningIdentity& identity, std::string_view amz_date,
                         std::string_view signed_headers, std::string_view payload_hash) {
  // What does not decode is signed as if it were plain; the server refuses it with a better message.
  const std::string query = canonical_query(request.query).value_or(std::string(request.query));
  const std::string canonical =
      canonical_request(request, canonical_path(request.path, identity.service), query, signed_headers, payload_hash);
  const Digest key =
      derive_signing_key(identity.secret_access_key, amz_date.substr(0, 8), identity.region, identity.service);
  return hex(hmac_sha256(as_text(key), string_to_sign(amz_date, scope_of(identity, amz_date), canonical)));
}

}  // namespace

Digest derive_signing_key(std::string_view secret, std::string_view day, std::string_view region,
                          std::string_view service) {
  const Digest day_key = hmac_sha256("AWS4" + std::string(secret), day);
  const Digest region_key = hmac_sha256(as_text(day_key), region);
  const Digest service_key = hmac_sha256(as_text(region_key), service);
  return hmac_sha256(as_text(service_key), "aws4_request");
}

std::string canonical_path(std::string_view path, std::string_view service) {
  if (is_s3(service)) {
    const Result<std::string> decoded = percent_decode(path);
    return path.empty() ? "/" : percent_encode(decoded ? std::string_view(*decoded) : path, true);
  }
  return percent_encode(normalize_path(path), true);
}

Result<std::string> canonical_query(std::string_view query) {
  if (query.empty()) return std::string();
  Result<std::vector<QueryParameter>> parsed = parse_query(query);
  if (!parsed) return std::unexpected(parsed.error());
  std::vector<QueryParameter> parameters;
  for (const QueryParameter& parameter : *parsed) {
    if (parameter.name == "X-Amz-Signature") continue;
    parameters.push_back({percent_encode(parameter.name), percent_encode(parameter.value)});
  }
  std::sort(parameters.begin(), parameters.end(), [](const QueryParameter& a, const QueryParameter& b) {
    return std::tie(a.name, a.value) < std::tie(b.name, b.value);
  });
  std::string out;
  for (const QueryParameter& parameter : parameters) {
    if (!out.empty()) out += '&';
    out.append(parameter.name).append(1, '=').append(parameter.value);
  }
  return out;
}

std::string canonical_request(const RequestView& request, std::string_view canonical_path,
                              std::string_view canonical_query, std::string_view signed_headers,
                              std::string_view payload_hash) {
  std::string out;
  out.reserve(512);
  out.append(request.method).append(1, '\n');
  out.append(canonical_path).append(1, '\n');
  out.append(canonical_query).append(1, '\n');
  for (std::string_view rest = signed_headers; !rest.empty();) {
    const size_t end = std::min(rest.find(';'), rest.size());
    append_canonical_header(out, request.headers, rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  out.append(1, '\n').append(signed_headers).append(1, '\n').append(payload_hash);
  return out;
}

std::string string_to_sign(std::string_view amz_date, std::string_view scope, std::string_view canonical_request) {
  return fmt::format("{}\n{}\n{}\n{}", kSigV4Algorithm, amz_date, scope, sha256_hex(canonical_request));
}

Headers sign(const RequestView& request, const SigningIdentity& identity, Instant now) {
  const std::string date = amz_date(now);
  Headers added = {{"X-Amz-Date", date}};
  if (!identity.session_token.empty()) added.add("X-Amz-Security-Token", std::string(identity.session_token));
  Headers all = request.headers;
  for (const Header& field : added) all.set(field.name, field.value);
  const std::optional<std::string_view> given = request.headers.find("x-amz-content-sha256");
  const std::string payload_hash = given ? std::string(*given) : sha256_hex(request.body);
  const std::string signed_headers = signable_headers(all);
  const RequestView whole{request.method, request.path, request.query, all, request.body};
  added.add("Authorization", fmt::format("{} Credential={}/{}, SignedHeaders={}, Signature={}", kSigV4Algorithm,
                                         identity.access_key_id, scope_of(identity, date), signed_headers,
                                         signature_of(whole, identity, date, signed_headers, payload_hash)));
  return added;
}

std::string presign(const RequestView& request, const SigningIdentity& identity, Instant now, int expires_seconds) {
  const std::string date = amz_date(now);
  const std::string signed_headers = signable_headers(request.headers);
  std::string query(request.query);
  const auto append = [&](std::string_view name, std::string_view value) {
    if (!query.empty()) query += '&';
    query.append(name).append(1, '=').append(percent_encode(value));
  };
  append("X-Amz-Algorithm", kSigV4Algorithm);
  append("X-Amz-Credential", fmt::format("{}/{}", identity.access_key_id, scope_of(identity, date)));
  append("X-Amz-Date", date);
  append("X-Amz-Expires", std::to_string(expires_seconds));
  append("X-Amz-SignedHeaders", signed_headers);
  if (!identity.session_token.empty()) append("X-Amz-Security-Token", identity.session_token);
  const std::string payload_hash = is_s3(identity.service) ? std::string(kUnsignedPayload) : sha256_hex(request.body);
  const RequestView whole{request.method, request.path, query, request.headers, request.body};
  append("X-Amz-Signature", signature_of(whole, identity, date, signed_headers, payload_hash));
  return query;
}

}  // namespace teson::wire
