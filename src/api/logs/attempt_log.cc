#include "api/logs/attempt_log.h"

#include <algorithm>
#include <optional>

#include "api/logs/utf8.h"
#include "attempt_dir/codec.h"
#include "attempt_dir/files.h"
#include "attempt_dir/lock.h"
#include "attempt_dir/log_index.h"

namespace teson::logs {
namespace {

// What a dead agent left behind may write for a moment more, until the launcher has ended it.
constexpr Duration kQuietAfterDeath = Duration::seconds(5);

enum class Life { kRunning, kEnded, kAgentDied };

// Never tries the lock itself: for a moment that would look like a living agent to the launcher.
Life life_of(const AttemptPaths& paths) {
  if (exists(paths.result())) return Life::kEnded;
  const auto lock = open_lock(paths.file(kLockFile), true);
  if (!lock) return Life::kRunning;
  const auto record = read_lock_record(lock->get());
  if (!record) return Life::kRunning;
  const bool lives = record->boot_id == current_boot_id() && process_start_ticks(record->pid) == record->start_ticks;
  if (lives) return Life::kRunning;
  // It may have written its result and left between the two looks.
  return exists(paths.result()) ? Life::kEnded : Life::kAgentDied;
}

std::optional<int64_t> ended_millis(const AttemptPaths& paths) {
  const auto text = read_file(paths.result());
  if (!text) return std::nullopt;
  const auto result = decode_result(*text, paths.result());
  if (!result) return std::nullopt;
  return result->end.ended.millis();
}

uint64_t little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < 8; ++i) value |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  return value;
}

}  // namespace

Result<std::unique_ptr<AttemptLog>> AttemptLog::open(const AttemptPaths& paths, Instant now) {
  // The order matters: whether it ended, then the marks, then the bytes. Each sees at least what the one before saw.
  Life life = life_of(paths);
  auto index = BlockReader::open(paths.log_index());
  if (!index) return std::unexpected(index.error());
  if (life == Life::kAgentDied) {
    const auto probe = BlockReader::open(paths.log());
    if (probe && probe->modified() + kQuietAfterDeath > now) life = Life::kRunning;
  }
  const bool complete = life != Life::kRunning;

  uint64_t noted = 0;
  int64_t noted_millis = 0;
  if (const uint64_t records = index->size() / kLogMarkBytes; records > 0) {
    const std::string last = index->read((records - 1) * kLogMarkBytes, records * kLogMarkBytes);
    if (index->failure()) return std::unexpected(*index->failure());
    noted = little_endian(last);
    noted_millis = static_cast<int64_t>(little_endian(std::string_view(last).substr(8)));
  }
  auto lines = LineFile::open(paths.log(), complete, complete ? BlockReader::kEverything : noted);
  if (!lines) return std::unexpected(lines.error());

  std::unique_ptr<AttemptLog> log(new AttemptLog(std::move(*index), std::move(*lines), complete));
  if (complete) {
    const int64_t written = log->lines_.modified().millis();
    const int64_t ended = life == Life::kEnded ? ended_millis(paths).value_or(written) : written;
    log->rest_millis_ = std::max(noted_millis, ended);
  }
  return log;
}

uint64_t AttemptLog::mark_count() const { return index_.size() / kLogMarkBytes; }

AttemptLog::Mark AttemptLog::mark(uint64_t number) {
  const std::string bytes = index_.read(number * kLogMarkBytes, (number + 1) * kLogMarkBytes);
  return {little_endian(bytes), static_cast<int64_t>(little_endian(std::string_view(bytes).substr(8)))};
}

Status AttemptLog::status() const {
  if (index_.failure()) return std::unexpected(*index_.failure());
  return lines_.status();
}

// The time at which the byte at `offset` was first seen to be there: the first mark beyond it.
int64_t AttemptLog::millis_of(uint64_t offset) {
  if (offset >= known_from_ && offset < known_until_) return known_millis_;
  uint64_t low = 0;
  uint64_t high = mark_count();
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (mark(middle).offset > offset)
      high = middle;
    else
      low = middle + 1;
  }
  const Mark found = low < mark_count() ? mark(low) : Mark{BlockReader::kEverything, rest_millis_};
  known_from_ = low == 0 ? 0 : mark(low - 1).offset;
  known_until_ = found.offset;
  known_millis_ = found.millis;
  return found.millis;
}

Event AttemptLog::event_of(Line line) {
  const int64_t millis = millis_of(line.end - 1);
  return {{0, line.begin}, {0, line.end}, millis, millis, valid_utf8(line.text)};
}

Result<bool> AttemptLog::is_place(Position position) {
  const bool answer = position.millis == 0 && lines_.is_boundary(position.index);
  if (auto read = status(); !read) return std::unexpected(read.error());
  return answer;
}

Result<Position> AttemptLog::end() { return Position{0, lines_.end()}; }

Result<Position> AttemptLog::first_at_or_after(int64_t millis) {
  uint64_t low = 0;
  uint64_t high = mark_count();
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (mark(middle).millis >= millis)
      high = middle;
    else
      low = middle + 1;
  }
  // All before the last older mark is older. The event that holds the next byte was finished later.
  uint64_t offset = low == 0 ? 0 : mark(low - 1).offset;
  if (low == mark_count() && rest_millis_ < millis) offset = lines_.end();
  const uint64_t begin = lines_.boundary_at_or_before(offset);
  if (auto read = status(); !read) return std::unexpected(read.error());
  return Position{0, begin};
}

Result<std::vector<Event>> AttemptLog::first(Position from, Position until, PageLimits limits) {
  std::vector<Event> events;
  size_t bytes = 0;
  uint64_t at = from.index;
  while (events.size() < limits.events) {
    auto line = lines_.next(at);
    if (!line || line->end > until.index) break;
    at = line->end;
    Event event = event_of(std::move(*line));
    bytes += event_bytes(event);
    if (bytes > limits.bytes && !events.empty()) break;
    events.push_back(std::move(event));
  }
  if (auto read = status(); !read) return std::unexpected(read.error());
  return events;
}

Result<std::vector<Event>> AttemptLog::last(Position from, Position until, PageLimits limits) {
  std::vector<Event> events;
  size_t bytes = 0;
  uint64_t at = std::min(until.index, lines_.end());
  while (events.size() < limits.events && at > from.index) {
    auto line = lines_.previous(at);
    if (!line) break;
    at = line->begin;
    Event event = event_of(std::move(*line));
    bytes += event_bytes(event);
    if (bytes > limits.bytes && !events.empty()) break;
    events.push_back(std::move(event));
  }
  std::ranges::reverse(events);
  if (auto read = status(); !read) return std::unexpected(read.error());
  return events;
}

}  // namespace teson::logs
