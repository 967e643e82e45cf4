// THE loop: one thread, the sole owner of the state. Everything else sends it commands, reports and questions.
//
// Thread: every public function may be called from any thread. Answers come on the loop's thread, after the commit.
// Cost: a command is O(log n) plus its share of one group commit (one fsync for up to 100 inputs).
// Failure: while the journal cannot be written, commands are answered kUnavailable and nothing is started.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "control/commands.h"
#include "control/controller.h"
#include "control/registry_view.h"
#include "ports/clock.h"

namespace teson {

class Loop {
 public:
  // The controller must have recovered. Neither it nor the clock may be used elsewhere until stop() has returned.
  Loop(Controller& controller, const Clock& clock);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void start();
  // Answers what is queued, then ends the thread. Later posts are answered kUnavailable.
  void stop();

  void submit(Command command, CommandReply reply);
  void report(AttemptReport report);
  // Runs the question on the loop's thread, after the commit that precedes it. It must be quick: copy, then leave.
  void ask(std::function<void(const Controller&)> question);
  // Why nothing may start now (disk nearly full); nullopt lifts it.
  void hold_starts(std::optional<std::string> reason);

 private:
  void run();
  void post(Input input);

  Controller& controller_;
  const Clock& clock_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Input> inbox_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace teson
