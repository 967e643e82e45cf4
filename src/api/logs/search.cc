#include "api/logs/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <queue>

#include "base/try.h"
#include "wire/digest.h"

namespace teson::logs {
namespace {

constexpr PageLimits kReadAhead{.events = 256, .bytes = 64 * 1024};

// One stream's part of the search. `millis` is its next event's time or, before it was opened, the earliest possible.
struct Cursor {
  const StreamInfo* stream = nullptr;
  int64_t millis = 0;
  bool placed = false;
  Position place;
  std::deque<Event> ahead;
};

struct LaterFirst {
  bool operator()(const Cursor* a, const Cursor* b) const {
    if (a->millis != b->millis) return a->millis > b->millis;
    return a->stream->name > b->stream->name;
  }
};
using Front = std::priority_queue<Cursor*, std::vector<Cursor*>, LaterFirst>;

class Search {
 public:
  Search(const LogGroup& group, SearchQuery& query) : group_(group), query_(query) {}

  Result<SearchPage> run() {
    make_cursors();
    SearchToken reached{query_.from_millis, "", {}};
    if (query_.after) reached = *query_.after;
    while (!front_.empty()) {
      Cursor& cursor = *front_.top();
      if (scanned_ >= query_.scan_bytes || page_.events.size() >= query_.limits.events) {
        page_.next = reached;
        break;
      }
      front_.pop();
      if (cursor.ahead.empty()) {
        TESON_TRY_STATUS(read_ahead(cursor));
        if (!cursor.ahead.empty() && cursor.ahead.front().millis <= query_.until_millis) front_.push(&cursor);
        continue;
      }
      Event& event = cursor.ahead.front();
      SearchToken here{event.millis, cursor.stream->name, event.end};
      const size_t bytes = event_bytes(event);
      if (!take(cursor, event)) {
        page_.next = reached;
        break;
      }
      reached = std::move(here);
      scanned_ += bytes;
      cursor.ahead.pop_front();
      advance(cursor);
    }
    return std::move(page_);
  }

 private:
  // The earliest time at which this stream can have something left.
  int64_t start_of(const StreamInfo& stream) const {
    int64_t start = query_.from_millis;
    if (const auto& after = query_.after)
      start = std::max(start, after->millis + (stream.name < after->stream ? 1 : 0));
    return start;
  }

  void make_cursors() {
    cursors_.reserve(query_.streams.size());
    for (const StreamInfo& stream : query_.streams) {
      const int64_t start = start_of(stream);
      if (start > query_.until_millis || group_.is_surely_before(stream, start)) continue;
      cursors_.push_back({.stream = &stream, .millis = start});
    }
    for (Cursor& cursor : cursors_) front_.push(&cursor);
  }

  Status read_ahead(Cursor& cursor) {
    const auto opened = group_.open(*cursor.stream);
    if (!opened && opened.error().kind == ErrorKind::kDenied && query_.skip_denied) return {};
    if (!opened) return std::unexpected(opened.error());
    const auto& source = *opened;
    if (!cursor.placed) {
      const auto& after = query_.after;
      if (after && after->stream == cursor.stream->name) {
        TESON_TRY(const bool is_place, source->is_place(after->end));
        if (!is_place) return invalid("The specified nextToken is invalid.");
        cursor.place = after->end;
      } else {
        TESON_TRY(cursor.place, source->first_at_or_after(start_of(*cursor.stream)));
      }
      cursor.placed = true;
    }
    TESON_TRY(auto events, source->first(cursor.place, kStreamEnd, kReadAhead));
    for (Event& event : events) {
      cursor.place = event.end;
      cursor.ahead.push_back(std::move(event));
    }
    if (!cursor.ahead.empty()) cursor.millis = cursor.ahead.front().millis;
    return {};
  }

  // Puts the cursor back with its next event; without one ahead it is read when its turn comes.
  void advance(Cursor& cursor) {
    if (!cursor.ahead.empty()) cursor.millis = cursor.ahead.front().millis;
    if (cursor.millis <= query_.until_millis) front_.push(&cursor);
  }

  // False: the event matches but the page is full.
  bool take(const Cursor& cursor, Event& event) {
    if (!query_.pattern.matches(event.message)) return true;
    const size_t bytes = event_bytes(event);
    if (page_bytes_ + bytes > query_.limits.bytes && !page_.events.empty()) return false;
    page_bytes_ += bytes;
    page_.events.push_back({cursor.stream->name, std::move(event)});
    return true;
  }

  const LogGroup& group_;
  SearchQuery& query_;
  std::vector<Cursor> cursors_;
  Front front_;
  SearchPage page_;
  size_t page_bytes_ = 0;
  size_t scanned_ = 0;
};

}  // namespace

Result<SearchPage> search(const LogGroup& group, SearchQuery query) { return Search(group, query).run(); }

std::string event_id(const std::string& stream, const Event& event) {
  constexpr uint64_t kSixteenDigits = 10'000'000'000'000'000;
  const wire::Digest digest = wire::sha256(stream);
  uint64_t hash = 0;
  for (size_t i = 0; i < 8; ++i) hash = hash << 8 | digest[i];
  return fmt::format("{:020}{:016}{:020}", event.millis, hash % kSixteenDigits, event.begin.index);
}

}  // namespace teson::logs
