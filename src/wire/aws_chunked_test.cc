#include "wire/aws_chunked.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace teson::wire {
namespace {

// The worked example of the Amazon S3 user guide: 66,560 bytes 'a' in chunks of 64 KiB and 1 KiB.
Verified example(std::string_view mode) {
  Verified v{};
  v.amz_date = "20130524T000000Z";
  v.scope = "20130524/us-east-1/s3/aws4_request";
  v.signature = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9";
  v.payload_hash = mode;
  v.signing_key = derive_signing_key("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "20130524", "us-east-1", "s3");
  return v;
}

std::string signed_body() {
  return fmt::format(
      "10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n{}\r\n"
      "400;chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n{}\r\n"
      "0;chunk-signature=b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r\n\r\n",
      std::string(65536, 'a'), std::string(1024, 'a'));
}

Status decode(std::string_view mode, std::string_view body, size_t slice, std::string& out,
              AwsChunkedLimits limits = {}) {
  AwsChunkedDecoder decoder(example(mode), limits);
  for (size_t i = 0; i < body.size(); i += slice) {
    if (Status status = decoder.feed(body.substr(i, slice), out); !status) return status;
  }
  return decoder.finish();
}

TEST(AwsChunked, DecodesTheDocumentedUploadHoweverItIsSliced) {
  for (const size_t slice : {size_t{1}, size_t{7}, size_t{1000}, size_t{1} << 20}) {
    std::string out;
    const Status status = decode(kStreamingSigned, signed_body(), slice, out);
    ASSERT_TRUE(status) << slice << ": " << status.error().message;
    EXPECT_EQ(out, std::string(66560, 'a'));
  }
}

TEST(AwsChunked, RefusesAChangedByteWhereverItIs) {
  for (const size_t at : {size_t{20}, size_t{100}, size_t{60000}, size_t{66000}}) {
    std::string body = signed_body();
    body[at] = body[at] == 'b' ? 'c' : 'b';
    std::string out;
    EXPECT_FALSE(decode(kStreamingSigned, body, 4096, out)) << at;
  }
}

TEST(AwsChunked, RefusesAMissingEndAndAnythingAfterIt) {
  const std::string body = signed_body();
  std::string out;
  EXPECT_EQ(decode(kStreamingSigned, body.substr(0, body.size() - 1), 4096, out).error().message,
            "The chunked body ends before its last chunk.");
  EXPECT_FALSE(decode(kStreamingSigned, body + "x", 4096, out));
  // Dropping a whole signed chunk breaks the chain.
  const size_t second = body.find("400;chunk");
  EXPECT_EQ(decode(kStreamingSigned, body.substr(0, second) + body.substr(body.find("0;chunk", second + 4)), 4096, out)
                .error()
                .kind,
            ErrorKind::kDenied);
}

TEST(AwsChunked, ReadsUnsignedChunksWithTrailers) {
  const std::string body = "5\r\nhello\r\n6;ext=1\r\n world\r\n0\r\nx-amz-checksum-crc32:DUoRhQ==\r\n\r\n";
  for (const size_t slice : {size_t{1}, size_t{1000}}) {
    AwsChunkedDecoder decoder(example(kStreamingUnsignedTrailer), {});
    std::string out;
    for (size_t i = 0; i < body.size(); i += slice) ASSERT_TRUE(decoder.feed(body.substr(i, slice), out));
    ASSERT_TRUE(decoder.finish());
    EXPECT_EQ(out, "hello world");
    EXPECT_EQ(decoder.trailers().get("X-Amz-Checksum-Crc32"), "DUoRhQ==");
    EXPECT_EQ(decoder.decoded_bytes(), 11U);
  }
}

// The chain by hand, as the guide describes it.
std::string signed_trailer_body(const Verified& request, std::string_view trailer_name) {
  const std::string head = fmt::format("{}\n{}\n", request.amz_date, request.scope);
  const std::string empty = sha256_hex("");
  const auto mac = [&](const std::string& text) { return hex(hmac_sha256(as_text(request.signing_key), text)); };
  const std::string one =
      mac("AWS4-HMAC-SHA256-PAYLOAD\n" + head + request.signature + "\n" + empty + "\n" + sha256_hex("hello"));
  const std::string last = mac("AWS4-HMAC-SHA256-PAYLOAD\n" + head + one + "\n" + empty + "\n" + empty);
  const std::string trailer =
      mac("AWS4-HMAC-SHA256-TRAILER\n" + head + last + "\n" + sha256_hex("x-amz-checksum-crc32c:sOO8/Q==\n"));
  return fmt::format(
      "5;chunk-signature={}\r\nhello\r\n0;chunk-signature={}\r\n{}:sOO8/Q==\r\nx-amz-trailer-signature:{}\r\n\r\n", one,
      last, trailer_name, trailer);
}

TEST(AwsChunked, VerifiesSignedTrailers) {
  const Verified request = example(kStreamingSignedTrailer);
  std::string out;
  EXPECT_TRUE(decode(kStreamingSignedTrailer, signed_trailer_body(request, "x-amz-checksum-crc32c"), 3, out));
  EXPECT_EQ(out, "hello");
  EXPECT_EQ(decode(kStreamingSignedTrailer, signed_trailer_body(request, "x-amz-checksum-sha256"), 3, out).error().kind,
            ErrorKind::kDenied);
}

TEST(AwsChunked, HoldsItsLimits) {
  std::string out;
  AwsChunkedLimits limits;
  limits.decoded_bytes = 10;
  const auto unsigned_trailer = [&](std::string_view body) {
    return decode(kStreamingUnsignedTrailer, body, 3, out, limits);
  };
  EXPECT_TRUE(unsigned_trailer("a\r\n0123456789\r\n0\r\n\r\n"));
  EXPECT_FALSE(unsigned_trailer("a\r\n0123456789\r\n1\r\nx\r\n0\r\n\r\n"));
  EXPECT_FALSE(unsigned_trailer("b\r\n"));
  EXPECT_FALSE(unsigned_trailer("ffffffffffffffffff\r\n"));
  EXPECT_FALSE(unsigned_trailer("-1\r\n"));
  EXPECT_FALSE(unsigned_trailer("\r\n"));
  EXPECT_FALSE(unsigned_trailer("0x5\r\n"));
  EXPECT_FALSE(unsigned_trailer("5\nhello\r\n"));
  EXPECT_FALSE(unsigned_trailer("5\r\nhelloX\r\n"));
  EXPECT_FALSE(unsigned_trailer(std::string(2000, '0')));
  EXPECT_FALSE(unsigned_trailer("0\r\nno colon\r\n\r\n"));
  limits.trailer_bytes = 100;
  EXPECT_FALSE(unsigned_trailer("0\r\n" + std::string("a:b\r\n") + "c:" + std::string(99, 'd') + "\r\n\r\n"));
  limits.expected_bytes = 4;
  EXPECT_FALSE(unsigned_trailer("3\r\nabc\r\n0\r\n\r\n"));
  EXPECT_TRUE(unsigned_trailer("4\r\nabcd\r\n0\r\n\r\n"));
}

TEST(AwsChunked, RefusesModesItDoesNotKnow) {
  std::string out;
  EXPECT_FALSE(decode("UNSIGNED-PAYLOAD", "0\r\n\r\n", 100, out));
}

}  // namespace
}  // namespace teson::wire
