#include "api/logs/line_file.h"

#include <algorithm>

namespace teson::logs {
namespace {

// A cut may lie this far before its multiple of kCutEvery, to spare a UTF-8 character.
constexpr uint64_t kCutSlack = 3;
// With no newline in so many bytes, the line is certainly being cut.
constexpr uint64_t kSearchBytes = LineFile::kUncutBytes + 2 * LineFile::kCutEvery + kCutSlack;

bool is_continuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }
bool is_lead(char byte) { return static_cast<uint8_t>(byte) >= 0xC0; }

uint64_t multiple_above(uint64_t offset) { return (offset / LineFile::kCutEvery + 1) * LineFile::kCutEvery; }

}  // namespace

Result<LineFile> LineFile::open(const std::string& path, bool complete, uint64_t limit) {
  auto blocks = BlockReader::open(path, limit);
  if (!blocks) return std::unexpected(blocks.error());
  LineFile file(std::move(*blocks), complete);
  const uint64_t size = file.blocks_.size();
  if (complete || size == 0) {
    file.end_ = size;
  } else {
    const uint64_t last = file.find_boundary(size - 1);
    file.end_ = file.event_end(last).value_or(last);
  }
  if (auto status = file.status(); !status) return std::unexpected(status.error());
  return file;
}

Status LineFile::status() const {
  if (blocks_.failure()) return std::unexpected(*blocks_.failure());
  return {};
}

uint64_t LineFile::cut_near(uint64_t multiple) {
  for (uint64_t back = 0; back <= kCutSlack && back < multiple; ++back) {
    const char byte = blocks_.byte_at(multiple - back);
    if (is_continuation(byte)) continue;
    return is_lead(byte) ? multiple - back : multiple;
  }
  return multiple;
}

// The end of the event that begins at `begin`, if it is settled.
std::optional<uint64_t> LineFile::event_end(uint64_t begin) {
  const uint64_t size = blocks_.size();
  if (begin >= size) return std::nullopt;
  // Within a line that is being cut, the very next multiple cuts again; at a line's start only one far enough does.
  const bool inside_line = begin > 0 && blocks_.byte_at(begin - 1) != '\n';
  uint64_t multiple = inside_line ? multiple_above(begin + kCutSlack) : multiple_above(begin + kUncutBytes - 1);
  const auto newline = blocks_.find_newline(begin, multiple + 1);
  if (newline) return *newline + 1;
  if (multiple < size) return cut_near(multiple);
  if (complete_) return size;
  return std::nullopt;
}

uint64_t LineFile::find_boundary(uint64_t offset) {
  const uint64_t from = offset > kSearchBytes ? offset - kSearchBytes : 0;
  uint64_t begin = 0;
  if (const auto newline = blocks_.rfind_newline(from, offset)) {
    begin = *newline + 1;
  } else if (from > 0) {
    // Far inside a line: the last cut but one is known to be one whatever follows it.
    begin = cut_near(offset / kCutEvery * kCutEvery - kCutEvery);
  }
  while (const auto end = event_end(begin)) {
    if (*end > offset) break;
    begin = *end;
  }
  return begin;
}

uint64_t LineFile::boundary_at_or_before(uint64_t offset) { return offset >= end_ ? end_ : find_boundary(offset); }

bool LineFile::is_boundary(uint64_t offset) {
  if (offset > end_) return false;
  return offset == 0 || boundary_at_or_before(offset) == offset;
}

std::string LineFile::text_of(uint64_t begin, uint64_t end) {
  std::string text = blocks_.read(begin, end);
  if (text.ends_with('\n')) {
    text.pop_back();
    if (text.ends_with('\r')) text.pop_back();
  }
  return text;
}

std::optional<Line> LineFile::next(uint64_t begin) {
  if (begin >= end_) return std::nullopt;
  const auto end = event_end(begin);
  if (!end) return std::nullopt;
  return Line{begin, *end, text_of(begin, *end)};
}

std::optional<Line> LineFile::previous(uint64_t end) {
  if (end == 0 || end > end_) return std::nullopt;
  const uint64_t begin = find_boundary(end - 1);
  return Line{begin, end, text_of(begin, end)};
}

}  // namespace teson::logs
