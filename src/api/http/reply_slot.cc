#include "api/http/reply_slot.h"

namespace teson::http {
namespace {

class Ticket {
 public:
  explicit Ticket(std::shared_ptr<ReplySlot> slot) : slot_(std::move(slot)) {}
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;
  ~Ticket() { slot_->abandon(); }
  void put(Response response) { slot_->put(std::move(response)); }

 private:
  std::shared_ptr<ReplySlot> slot_;
};

}  // namespace

Reply ReplySlot::reply_for(std::shared_ptr<ReplySlot> slot) {
  return [ticket = std::make_shared<Ticket>(std::move(slot))](Response response) { ticket->put(std::move(response)); };
}

void ReplySlot::put(Response response) { finish(std::move(response)); }
void ReplySlot::abandon() { finish(std::nullopt); }

void ReplySlot::finish(std::optional<Response> response) {
  std::function<void()> wake;
  {
    const std::lock_guard lock(mutex_);
    if (ready_) return;
    ready_ = true;
    response_ = std::move(response);
    wake = std::exchange(wake_, nullptr);
  }
  if (wake) wake();
}

bool ReplySlot::ready() const {
  const std::lock_guard lock(mutex_);
  return ready_;
}

void ReplySlot::when_ready(std::function<void()> wake) {
  {
    const std::lock_guard lock(mutex_);
    if (!ready_) {
      wake_ = std::move(wake);
      return;
    }
  }
  wake();
}

std::optional<Response> ReplySlot::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(response_, std::nullopt);
}

}  // namespace teson::http
