// The terminal's second screen, for commands that redraw. The first screen, the cursor and the keyboard's settings are
// as they were once it is gone, also where a signal ends the program.
//
// One at a time; for the main thread.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "cli/top_view.h"

namespace teson::cli {

class LiveScreen {
 public:
  LiveScreen();  // standard input and output must be terminals
  ~LiveScreen();
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;

  static bool possible();
  ScreenSize size() const;
  void draw(const std::vector<std::string>& lines);
  // False when the user is done: q, Ctrl-C, SIGTERM, or the terminal is gone. Returns early where the size changed.
  bool wait(Duration pause);
};

}  // namespace teson::cli
