#include "wire/aws_chunked.h"

#include <fmt/format.h>

#include <charconv>

namespace teson::wire {
namespace {

constexpr std::string_view kEmptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr std::string_view kSignatureField = "chunk-signature=";

bool is_header_name(std::string_view name) {
  if (name.empty()) return false;
  for (const char c : name) {
    const bool good =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    if (!good) return false;
  }
  return true;
}

}  // namespace

AwsChunkedDecoder::AwsChunkedDecoder(const Verified& request, AwsChunkedLimits limits)
    : signed_chunks_(request.payload_hash == kStreamingSigned || request.payload_hash == kStreamingSignedTrailer),
      has_trailers_(request.payload_hash == kStreamingSignedTrailer ||
                    request.payload_hash == kStreamingUnsignedTrailer),
      mode_known_(signed_chunks_ || has_trailers_),
      limits_(limits),
      amz_date_(request.amz_date),
      scope_(request.scope),
      key_(request.signing_key),
      previous_signature_(request.signature) {}

Status AwsChunkedDecoder::feed(std::string_view bytes, std::string& out) {
  if (!mode_known_) return invalid("The request's x-amz-content-sha256 does not say that its body is aws-chunked.");
  if (state_ == State::kFailed) return invalid("The chunked body was refused already.");
  while (!bytes.empty()) {
    if (Status status = step(bytes, out); !status) {
      state_ = State::kFailed;
      return status;
    }
  }
  return {};
}

Status AwsChunkedDecoder::step(std::string_view& bytes, std::string& out) {
  switch (state_) {
    case State::kSize: {
      Result<std::optional<std::string>> line = take_line(bytes, limits_.line_bytes);
      if (!line) return std::unexpected(std::move(line.error()));
      return *line ? begin_chunk(**line) : Status();
    }
    case State::kData:
      take_data(bytes, out);
      return {};
    case State::kDataEnd: {
      Result<std::optional<std::string>> line = take_line(bytes, 2);
      if (!line) return std::unexpected(std::move(line.error()));
      if (!*line) return {};
      if (!(*line)->empty()) return invalid("A chunk's data must be followed by CR LF.");
      return end_chunk();
    }
    case State::kTrailer: {
      Result<std::optional<std::string>> line = take_line(bytes, limits_.trailer_bytes);
      if (!line) return std::unexpected(std::move(line.error()));
      return *line ? take_trailer(**line) : Status();
    }
    case State::kDone:
      return invalid("The body goes on after its last chunk.");
    case State::kFailed:
      break;
  }
  return invalid("The chunked body was refused already.");
}

Result<std::optional<std::string>> AwsChunkedDecoder::take_line(std::string_view& bytes, size_t limit) {
  const size_t end = bytes.find('\n');
  const size_t taken = end == std::string_view::npos ? bytes.size() : end + 1;
  if (line_.size() + taken > limit) {
    return invalid(fmt::format("A line of the chunked body is longer than the {} bytes accepted there.", limit));
  }
  line_.append(bytes.substr(0, taken));
  bytes.remove_prefix(taken);
  if (end == std::string_view::npos) return std::optional<std::string>();
  if (!line_.ends_with("\r\n")) return invalid("Lines of a chunked body must end with CR LF.");
  line_.resize(line_.size() - 2);
  return std::optional<std::string>(std::exchange(line_, {}));
}

Status AwsChunkedDecoder::begin_chunk(const std::string& line) {
  const size_t size_end = std::min(line.find(';'), line.size());
  const auto [end, error] = std::from_chars(line.data(), line.data() + size_end, left_, 16);
  if (size_end == 0 || error != std::errc() || end != line.data() + size_end) {
    return invalid(fmt::format("A chunk's size must be a hexadecimal number, not '{}'.",
                               line.substr(0, std::min<size_t>(size_end, 20))));
  }
  const uint64_t limit =
      limits_.expected_bytes ? std::min(*limits_.expected_bytes, limits_.decoded_bytes) : limits_.decoded_bytes;
  if (left_ > limit - decoded_) {
    return invalid(fmt::format("The chunks hold more than the {} bytes that were announced or are accepted.", limit));
  }
  chunk_signature_.clear();
  if (signed_chunks_) {
    const std::string_view extension = size_end < line.size() ? std::string_view(line).substr(size_end + 1) : "";
    if (!extension.starts_with(kSignatureField)) return invalid("A chunk lacks its ';chunk-signature='.");
    chunk_signature_ = extension.substr(kSignatureField.size());
  }
  last_chunk_ = left_ == 0;
  // The last chunk has no data, and with trailers no line end of its own either.
  if (last_chunk_ && has_trailers_) return end_chunk();
  state_ = last_chunk_ ? State::kDataEnd : State::kData;
  return {};
}

void AwsChunkedDecoder::take_data(std::string_view& bytes, std::string& out) {
  const std::string_view data = bytes.substr(0, std::min<uint64_t>(left_, bytes.size()));
  bytes.remove_prefix(data.size());
  left_ -= data.size();
  decoded_ += data.size();
  if (signed_chunks_) chunk_hash_.update(data);
  out.append(data);
  if (left_ == 0) state_ = State::kDataEnd;
}

std::string AwsChunkedDecoder::chain(std::string_view algorithm, std::string_view tail) const {
  const std::string text = fmt::format("{}\n{}\n{}\n{}\n{}", algorithm, amz_date_, scope_, previous_signature_, tail);
  return hex(hmac_sha256(as_text(key_), text));
}

Status AwsChunkedDecoder::end_chunk() {
  if (signed_chunks_) {
    const std::string expected =
        chain("AWS4-HMAC-SHA256-PAYLOAD", fmt::format("{}\n{}", kEmptyHash, hex(chunk_hash_.digest())));
    if (!equal_in_constant_time(expected, chunk_signature_)) {
      return fail(ErrorKind::kDenied, "A chunk's signature does not match its data.");
    }
    previous_signature_ = expected;
  }
  state_ = !last_chunk_ ? State::kSize : has_trailers_ ? State::kTrailer : State::kDone;
  return {};
}

Status AwsChunkedDecoder::take_trailer(const std::string& line) {
  if (line.empty()) return end_trailers();
  trailer_bytes_ += line.size();
  if (trailer_bytes_ > limits_.trailer_bytes) {
    return invalid(fmt::format("The trailing headers are longer than the {} bytes accepted.", limits_.trailer_bytes));
  }
  const size_t colon = line.find(':');
  if (colon == std::string::npos || !is_header_name(std::string_view(line).substr(0, colon))) {
    return invalid("A trailing header must be 'name:value'.");
  }
  const std::string name = lower_case(std::string_view(line).substr(0, colon));
  const std::string value(trimmed(std::string_view(line).substr(colon + 1)));
  if (name == "x-amz-trailer-signature") {
    trailer_signature_ = value;
    return {};
  }
  if (!trailer_signature_.empty()) return invalid("x-amz-trailer-signature must be the last trailing header.");
  trailer_text_ += fmt::format("{}:{}\n", name, value);
  trailers_.add(name, value);
  return {};
}

Status AwsChunkedDecoder::end_trailers() {
  if (signed_chunks_) {
    const std::string expected = chain("AWS4-HMAC-SHA256-TRAILER", sha256_hex(trailer_text_));
    if (!equal_in_constant_time(expected, trailer_signature_)) {
      return fail(ErrorKind::kDenied, "The trailing headers' signature does not match them.");
    }
  }
  state_ = State::kDone;
  return {};
}

Status AwsChunkedDecoder::finish() const {
  if (state_ == State::kFailed) return invalid("The chunked body was refused.");
  if (state_ != State::kDone) return invalid("The chunked body ends before its last chunk.");
  if (limits_.expected_bytes && decoded_ != *limits_.expected_bytes) {
    return invalid(fmt::format("x-amz-decoded-content-length announces {} bytes, the chunks hold {}.",
                               *limits_.expected_bytes, decoded_));
  }
  return {};
}

}  // namespace teson::wire
