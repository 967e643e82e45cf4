// How far something is, told on standard error while a person waits: on a terminal one line that changes, elsewhere a
// line now and then.
//
// Thread: one. Other messages go through message(), which moves the line out of the way.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace teson::cli {

class ProgressLine {
 public:
  // Not a terminal: at most a line in so much time.
  static constexpr Duration kInterval = Duration::seconds(10);

  // `width` 0: lines are not cut.
  ProgressLine(bool terminal, size_t width, std::function<void(std::string_view)> write);

  // On one line, already printable.
  void show(const std::string& text, Instant at);
  // A line of its own.
  void message(std::string_view text);
  // What is written next, by others too, begins a line.
  void leave();
  // The last word stays: `text` is shown whatever the interval says.
  void end(const std::string& text);

 private:
  bool terminal_;
  size_t width_;
  std::function<void(std::string_view)> write_;
  std::string shown_;
  Instant shown_at_;
  bool open_ = false;  // the cursor stands behind the line
};

}  // namespace teson::cli
