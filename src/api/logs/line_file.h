// A job's output file as a sequence of events, each one line, addressed by byte offset, in both directions.
//
// An event is a line. Its text is without the '\n' and without one '\r' before it; other '\r' stay, so what a
// progress bar drew over itself is one event. A line of more than 192 KiB is cut, so that no event is longer than
// 256 KiB (what CloudWatch takes) and none needs more than about that much to be read, whatever the line's length:
// its first part has 192 to 256 KiB, the others 64 KiB. Where the cuts fall depends on the bytes before them only,
// never on where reading began, so forward, backward and later reads see the same events. No cut splits a UTF-8
// character.
//
// An unterminated last line is an event only in a `complete` file, one that nobody will write any more.
//
// Thread: one. Cost: what is returned, plus at most 384 KiB to find a place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/logs/block_reader.h"
#include "base/result.h"

namespace teson::logs {

struct Line {
  uint64_t begin = 0;
  uint64_t end = 0;  // where the next event begins
  std::string text;  // bytes as written
};

class LineFile {
 public:
  static constexpr uint64_t kCutEvery = 64 * 1024;
  static constexpr uint64_t kUncutBytes = 192 * 1024;

  // `complete` must have been found out before the call: the size is taken here. Bytes beyond `limit` do not count.
  // kDenied as of BlockReader.
  static Result<LineFile> open(const std::string& path, bool complete, uint64_t limit = BlockReader::kEverything);

  // Where the last event ends.
  uint64_t end() const { return end_; }
  bool is_boundary(uint64_t offset);
  // The begin of the event that holds the byte at `offset`, or of the unterminated rest; end() if beyond.
  uint64_t boundary_at_or_before(uint64_t offset);

  // The event that begins at this boundary; nothing at end().
  std::optional<Line> next(uint64_t begin);
  // The event that ends at this boundary; nothing at 0.
  std::optional<Line> previous(uint64_t end);
  // Look after every run of reads: after a failure their results mean nothing.
  Status status() const;
  uint64_t bytes_read() const { return blocks_.bytes_read(); }
  Instant modified() const { return blocks_.modified(); }

 private:
  LineFile(BlockReader blocks, bool complete) : blocks_(std::move(blocks)), complete_(complete) {}

  uint64_t find_boundary(uint64_t offset);
  std::optional<uint64_t> event_end(uint64_t begin);
  uint64_t cut_near(uint64_t multiple);
  std::string text_of(uint64_t begin, uint64_t end);

  BlockReader blocks_;
  bool complete_ = false;
  uint64_t end_ = 0;
};

}  // namespace teson::logs
