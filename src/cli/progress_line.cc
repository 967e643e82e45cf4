#include "cli/progress_line.h"

#include <utility>

#include "cli/text.h"

namespace teson::cli {
namespace {

constexpr std::string_view kBackAndClear = "\r\x1b[K";

}  // namespace

ProgressLine::ProgressLine(bool terminal, size_t width, std::function<void(std::string_view)> write)
    : terminal_(terminal), width_(width), write_(std::move(write)) {}

void ProgressLine::show(const std::string& text, Instant at) {
  if (text == shown_) return;
  if (terminal_) {
    // One column less: a full line would wrap, and its beginning could not be overwritten.
    write_(std::string(open_ ? kBackAndClear : "") + (width_ > 1 ? cut_to_width(text, width_ - 1) : text));
    open_ = true;
  } else {
    if (!shown_.empty() && at - shown_at_ < kInterval) return;
    write_(text + "\n");
  }
  shown_ = text;
  shown_at_ = at;
}

void ProgressLine::message(std::string_view text) {
  write_(std::string(open_ ? kBackAndClear : "") + std::string(text) + "\n");
  open_ = false;
  shown_.clear();
}

void ProgressLine::leave() {
  if (open_) write_("\n");
  open_ = false;
}

void ProgressLine::end(const std::string& text) {
  if (text != shown_) {
    write_(std::string(open_ ? kBackAndClear : "") + text + "\n");
  } else if (open_) {
    write_("\n");
  }
  open_ = false;
  shown_ = text;
}

}  // namespace teson::cli
