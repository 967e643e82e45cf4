// stdout.idx: when the bytes of a log came. The log is written by the job's own descriptors, never through us, so lines
// carry no time; the agent notes sizes instead: "bytes before this offset were there by this time", at most every
// 200 ms, in 16-byte records (u64 offset, u64 milliseconds since the epoch, both little-endian), both non-decreasing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace teson {

struct LogMark {
  uint64_t offset = 0;
  int64_t millis = 0;
  bool operator==(const LogMark&) const = default;
};

inline constexpr size_t kLogMarkBytes = 16;
void encode_log_mark(const LogMark& mark, char (&bytes)[kLogMarkBytes]);

class LogIndex {
 public:
  LogIndex() = default;
  explicit LogIndex(std::vector<LogMark> marks) : marks_(std::move(marks)) {}

  // An absent file is an empty index. A half-written last record is ignored.
  static Result<LogIndex> read(const std::string& path);
  static LogIndex decode(std::string_view bytes);

  // When the byte at `offset` was there: the first mark beyond it. nullopt: not yet noted; take the current time, or
  // the attempt's end.
  std::optional<Instant> time_of(uint64_t offset) const;
  // The first byte that came after `time`, as far as known: where a reader may start. Never too late, seldom too early.
  uint64_t offset_after(Instant time) const;

  const std::vector<LogMark>& marks() const { return marks_; }

 private:
  std::vector<LogMark> marks_;
};

}  // namespace teson
