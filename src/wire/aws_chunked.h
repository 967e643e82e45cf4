// Decoder of aws-chunked bodies (Content-Encoding: aws-chunked), as S3 clients upload: plain chunks or chunks that each
// carry a signature chained to the request's, with or without trailing headers.
//
// Source: Amazon S3 user guide, "Signature calculations ... transferring payload in multiple chunks" and "... with
// trailing headers"; the guide's own example is in aws_chunked_test.cc.
// Thread: one at a time. Pure. Memory: a header line or the trailers, bounded by AwsChunkedLimits; data is passed on as
// it comes. So data may come out before its chunk proved right: use nothing of it before finish() succeeded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/digest.h"
#include "wire/headers.h"
#include "wire/sigv4.h"

namespace teson::wire {

struct AwsChunkedLimits {
  uint64_t decoded_bytes = uint64_t{5} * 1024 * 1024 * 1024;
  size_t line_bytes = 1024;
  size_t trailer_bytes = 16 * 1024;
  // x-amz-decoded-content-length: what comes out must have exactly this size.
  std::optional<uint64_t> expected_bytes;
};

class AwsChunkedDecoder {
 public:
  // `request`: the verified request whose payload_hash is one of the STREAMING-* values; others are refused by feed().
  AwsChunkedDecoder(const Verified& request, AwsChunkedLimits limits);

  // Appends decoded data to `out`. kInvalid: malformed or over a limit; kDenied: a signature does not match. After an
  // error every call fails.
  Status feed(std::string_view bytes, std::string& out);
  // At the end of the body: everything has been seen and is right.
  Status finish() const;

  // Trailing headers, valid after finish(); verified if the mode signs them. Without x-amz-trailer-signature.
  const Headers& trailers() const { return trailers_; }
  uint64_t decoded_bytes() const { return decoded_; }

 private:
  enum class State { kSize, kData, kDataEnd, kTrailer, kDone, kFailed };

  Status step(std::string_view& bytes, std::string& out);
  // A whole line without its end, or nothing yet. Fails when it grows over `limit`.
  Result<std::optional<std::string>> take_line(std::string_view& bytes, size_t limit);
  Status begin_chunk(const std::string& line);
  void take_data(std::string_view& bytes, std::string& out);
  Status end_chunk();
  Status take_trailer(const std::string& line);
  Status end_trailers();
  std::string chain(std::string_view algorithm, std::string_view tail) const;

  const bool signed_chunks_;
  const bool has_trailers_;
  const bool mode_known_;
  const AwsChunkedLimits limits_;
  const std::string amz_date_;
  const std::string scope_;
  const Digest key_;
  std::string previous_signature_;

  State state_ = State::kSize;
  std::string line_;
  uint64_t left_ = 0;  // data bytes of this chunk still to come
  bool last_chunk_ = false;
  std::string chunk_signature_;
  Sha256 chunk_hash_;
  uint64_t decoded_ = 0;
  size_t trailer_bytes_ = 0;
  Headers trailers_;
  std::string trailer_text_;  // what the trailer signature covers
  std::string trailer_signature_;
};

}  // namespace teson::wire
