// One log stream, opened for one request: its events in order, in pages, from either end.
//
// Thread: one at a time. Failure: a Result that says what could not be read; nothing is remembered, ask again.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/result.h"

namespace teson::logs {

// A place between two events of a stream. Files: `index` is a byte offset and `millis` 0. Stored streams, which sort
// late events in: the event's time, and the order in which it came.
struct Position {
  int64_t millis = 0;
  uint64_t index = 0;
  constexpr auto operator<=>(const Position&) const = default;
};
inline constexpr Position kStreamBegin{};
inline constexpr Position kStreamEnd{std::numeric_limits<int64_t>::max(), std::numeric_limits<uint64_t>::max()};

struct Event {
  Position begin;
  Position end;  // the place right after it
  int64_t millis = 0;
  int64_t ingested_millis = 0;
  std::string message;  // well-formed UTF-8
};

// CloudWatch's way to count an event [PutLogEvents]: its UTF-8 bytes and 26 more.
constexpr size_t kEventOverheadBytes = 26;
inline size_t event_bytes(const Event& event) { return event.message.size() + kEventOverheadBytes; }

struct PageLimits {
  size_t events = 10'000;
  size_t bytes = 1024 * 1024;
};

class EventSource {
 public:
  virtual ~EventSource() = default;

  // False: no event ever began or ended there, so a client made it up.
  virtual Result<bool> is_place(Position position) = 0;
  // The place before the first event that is not older; end() if there is none.
  virtual Result<Position> first_at_or_after(int64_t millis) = 0;
  // The place after the last event at this moment.
  virtual Result<Position> end() = 0;

  // The first events of [from, until), ascending: as many as the limits allow, at least one if there is one.
  virtual Result<std::vector<Event>> first(Position from, Position until, PageLimits limits) = 0;
  // The last events of [from, until), ascending too.
  virtual Result<std::vector<Event>> last(Position from, Position until, PageLimits limits) = 0;
};

}  // namespace teson::logs
