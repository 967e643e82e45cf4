// aws-chunked: any bytes in any slicing end the same way, within the limits, and no signed body is accepted.
#include <cstdint>
#include <string>

#include "base/check.h"
#include "wire/aws_chunked.h"

namespace {

using namespace teson;

constexpr std::string_view kModes[] = {wire::kStreamingSigned, wire::kStreamingSignedTrailer,
                                       wire::kStreamingUnsignedTrailer};

struct Outcome {
  bool accepted = false;
  std::string out;
};

Outcome decode(std::string_view mode, std::string_view bytes, size_t slice) {
  wire::Verified request{};
  request.payload_hash = mode;
  request.amz_date = "20130524T000000Z";
  request.scope = "20130524/us-east-1/s3/aws4_request";
  request.signature = std::string(64, '0');
  request.signing_key = wire::sha256("a key that is in no seed");
  wire::AwsChunkedLimits limits;
  limits.decoded_bytes = 1024;
  limits.line_bytes = 128;
  limits.trailer_bytes = 256;
  wire::AwsChunkedDecoder decoder(request, limits);
  Outcome outcome;
  for (size_t at = 0; at < bytes.size(); at += slice) {
    if (!decoder.feed(bytes.substr(at, slice), outcome.out)) return outcome;
  }
  outcome.accepted = decoder.finish().has_value();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view mode = kModes[data[0] % 3];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Outcome whole = decode(mode, bytes, std::max<size_t>(1, bytes.size()));
  TESON_CHECK(whole.out.size() <= 1024, "the limit holds");
  TESON_CHECK(!whole.accepted || mode == wire::kStreamingUnsignedTrailer, "a forged signature was accepted");
  const Outcome sliced = decode(mode, bytes, 1 + size % 5);
  TESON_CHECK(sliced.accepted == whole.accepted, "slicing changes nothing");
  if (whole.accepted) TESON_CHECK(sliced.out == whole.out, "slicing changes nothing");
  return 0;
}
