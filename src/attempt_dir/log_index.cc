#include "attempt_dir/log_index.h"

#include <algorithm>

#include "attempt_dir/files.h"

namespace teson {
namespace {

void put(uint64_t value, char* bytes) {
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
}

uint64_t get(const char* bytes) {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return value;
}

}  // namespace

void encode_log_mark(const LogMark& mark, char (&bytes)[kLogMarkBytes]) {
  put(mark.offset, bytes);
  put(static_cast<uint64_t>(mark.millis), bytes + 8);
}

Result<LogIndex> LogIndex::read(const std::string& path) {
  const auto bytes = read_file(path, size_t{256} << 20);
  if (bytes) return decode(*bytes);
  if (bytes.error().kind == ErrorKind::kNotFound) return LogIndex();
  return std::unexpected(bytes.error());
}

LogIndex LogIndex::decode(std::string_view bytes) {
  std::vector<LogMark> marks;
  marks.reserve(bytes.size() / kLogMarkBytes);
  for (; bytes.size() >= kLogMarkBytes; bytes.remove_prefix(kLogMarkBytes)) {
    LogMark mark{get(bytes.data()), static_cast<int64_t>(get(bytes.data() + 8))};
    if (!marks.empty()) {
      // A clock set back, or a log cut by its job: keep both columns sorted, as searching needs.
      mark.millis = std::max(mark.millis, marks.back().millis);
      if (mark.offset <= marks.back().offset) continue;
    }
    marks.push_back(mark);
  }
  return LogIndex(std::move(marks));
}

std::optional<Instant> LogIndex::time_of(uint64_t offset) const {
  const auto at = std::upper_bound(marks_.begin(), marks_.end(), offset,
                                   [](uint64_t value, const LogMark& mark) { return value < mark.offset; });
  if (at == marks_.end()) return std::nullopt;
  return Instant::from_millis(at->millis);
}

uint64_t LogIndex::offset_after(Instant time) const {
  const auto at = std::upper_bound(marks_.begin(), marks_.end(), time.millis(),
                                   [](int64_t value, const LogMark& mark) { return value < mark.millis; });
  return at == marks_.begin() ? 0 : std::prev(at)->offset;
}

}  // namespace teson
