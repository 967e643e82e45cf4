#include "control/loop.h"

#include <chrono>
#include <utility>

namespace teson {
namespace {

// Group commit: so many inputs share one fsync at most, which bounds how long an answer waits for its neighbours.
constexpr size_t kMaxBatch = 100;

}  // namespace

Loop::Loop(Controller& controller, const Clock& clock) : controller_(controller), clock_(clock) {}

Loop::~Loop() { stop(); }

void Loop::start() {
  thread_ = std::thread([this] { run(); });
}

void Loop::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Loop::submit(Command command, CommandReply reply) { post(CommandInput{std::move(command), std::move(reply)}); }

void Loop::report(AttemptReport report) { post(std::move(report)); }

void Loop::ask(std::function<void(const Controller&)> question) { post(QuestionInput{std::move(question)}); }

void Loop::hold_starts(std::optional<std::string> reason) { post(HoldInput{std::move(reason)}); }

void Loop::post(Input input) {
  bool was_empty = false;
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) {
      was_empty = inbox_.empty();
      inbox_.push_back(std::move(input));
    } else if (auto* command = std::get_if<CommandInput>(&input)) {
      command->reply(fail(ErrorKind::kUnavailable, "The server is shutting down"));
      return;
    } else {
      return;
    }
  }
  if (was_empty) wake_.notify_one();
}

void Loop::run() {
  std::vector<Input> batch;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      const auto ready = [this] { return stopping_ || !inbox_.empty(); };
      if (const auto wakeup = controller_.next_wakeup()) {
        const int64_t wait_us = std::max<int64_t>(0, (*wakeup - clock_.now()).micros);
        wake_.wait_for(lock, std::chrono::microseconds(wait_us), ready);
      } else {
        wake_.wait(lock, ready);
      }
      if (stopping_ && inbox_.empty()) return;
      batch = std::exchange(inbox_, {});
    }
    for (size_t from = 0; from == 0 || from < batch.size(); from += kMaxBatch) {
      const size_t count = std::min(kMaxBatch, batch.size() - from);
      controller_.step(clock_.now(), std::span(batch).subspan(from, count));
    }
    batch.clear();
  }
}

}  // namespace teson
