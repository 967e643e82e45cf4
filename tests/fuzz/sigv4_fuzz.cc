// SigV4: hostile Authorization headers, dates and queries never verify without the secret, and what the signer makes
// out of the same pieces always does.
//
// The input is lines: method, path, query, then headers "name:value", then after an empty line the body.
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/prng.h"
#include "wire/sigv4.h"
#include "wire/time_text.h"
#include "wire/uri.h"

namespace {

using namespace teson;

std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// In no input, but the same for the same one. A constant would get into the inputs: the fuzzer sees what is compared.
std::string secret_for(std::string_view input) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  Prng prng(0, input);
  std::string secret(40, ' ');
  for (char& letter : secret) letter = kLetters[prng.below(kLetters.size())];
  return secret;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string secret = secret_for(text);
  const std::string_view method = take_line(text), path = take_line(text), query = take_line(text);
  wire::Headers headers;
  for (std::string_view line = take_line(text); !line.empty(); line = take_line(text)) {
    const size_t colon = std::min(line.find(':'), line.size());
    headers.add(std::string(line.substr(0, colon)), std::string(line.substr(std::min(colon + 1, line.size()))));
  }
  const Instant now = *wire::parse_amz_date("20150830T123600Z");
  // No input can hold a signature made with this key; a fuzzer that finds one has found a forgery.
  const auto secrets = [&](std::string_view id) -> std::optional<std::string> {
    if (id == "AKIDEXAMPLE") return secret;
    return std::nullopt;
  };
  for (const bool relaxed : {false, true}) {
    wire::VerifyOptions options;
    options.allow_unsigned_payload = options.allow_streaming = options.body_comes_later = relaxed;
    const auto verified = wire::verify({method, path, query, headers, text}, secrets, now, options);
    TESON_CHECK(!verified.has_value(), "a forged signature was accepted");
    TESON_CHECK(!verified.error().message.empty(), "a refusal says why");
    TESON_CHECK(verified.error().message.find(secret.substr(0, 8)) == std::string::npos, "a refusal holds no secret");
  }
  // Signed properly, it verifies: unless it does not decode, or is the fuzzer's own attempt at credentials.
  for (const char* name : {"authorization", "x-amz-date", "x-amz-content-sha256", "host"}) headers.remove(name);
  const auto parameters = wire::parse_query(query);
  if (!parameters || query.find("X-Amz") != std::string_view::npos || query.find('%') != std::string_view::npos)
    return 0;
  for (const wire::Header& field : headers) {
    // Names that cannot come out of an HTTP parser.
    if (field.name.empty() ||
        field.name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789") !=
            std::string::npos) {
      return 0;
    }
  }
  headers.add("Host", "h");
  const wire::RequestView request{method, path, query, headers, text};
  wire::Headers sent = headers;
  for (const wire::Header& field : wire::sign(request, {"AKIDEXAMPLE", secret, "", "us-east-1", "batch"}, now)) {
    sent.add(field.name, field.value);
  }
  const auto good = wire::verify({method, path, query, sent, text}, secrets, now);
  TESON_CHECK(good.has_value(), good.has_value() ? "" : good.error().message);
  return 0;
}
