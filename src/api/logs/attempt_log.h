// An attempt's own output file (stdout.log with its time index) as a log stream, while it runs and afterwards.
//
// While the attempt runs, what the time index has not noted yet (some 200 ms) is not shown: an event's time is settled
// when it is first seen, so that clients which ask again from the last time on neither miss nor repeat one. Once the
// attempt has ended everything is there, an unterminated last line included.
//
// Nothing is locked: readers, the agent and the job do not notice each other.
#pragma once

#include <memory>

#include "api/logs/event_source.h"
#include "api/logs/line_file.h"
#include "attempt_dir/paths.h"
#include "base/time.h"

namespace teson::logs {

class AttemptLog : public EventSource {
 public:
  // `now` decides how long ago a dead agent's job has written last. Absent files are an empty stream.
  static Result<std::unique_ptr<AttemptLog>> open(const AttemptPaths& paths, Instant now);

  Result<bool> is_place(Position position) override;
  Result<Position> first_at_or_after(int64_t millis) override;
  Result<Position> end() override;
  Result<std::vector<Event>> first(Position from, Position until, PageLimits limits) override;
  Result<std::vector<Event>> last(Position from, Position until, PageLimits limits) override;

  // Nothing will be added any more.
  bool complete() const { return complete_; }
  uint64_t bytes_read() const { return lines_.bytes_read(); }

 private:
  struct Mark {
    uint64_t offset = 0;
    int64_t millis = 0;
  };

  AttemptLog(BlockReader index, LineFile lines, bool complete)
      : index_(std::move(index)), lines_(std::move(lines)), complete_(complete) {}

  uint64_t mark_count() const;
  Mark mark(uint64_t number);
  int64_t millis_of(uint64_t offset);
  Event event_of(Line line);
  Status status() const;

  BlockReader index_;
  LineFile lines_;
  bool complete_ = false;
  int64_t rest_millis_ = 0;  // of the bytes after the last mark; in complete logs only

  // Where the last search ended: neighbours mostly share a mark.
  uint64_t known_from_ = 0;
  uint64_t known_until_ = 0;
  int64_t known_millis_ = 0;
};

}  // namespace teson::logs
