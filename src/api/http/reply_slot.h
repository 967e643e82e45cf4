// Where one answer meets the connection that waits for it.
//
// Thread: put() and abandon() on any, the rest on the connection's own. The first answer counts.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "api/http/http.h"

namespace teson::http {

class ReplySlot {
 public:
  void put(Response response);
  // Nobody will answer any more.
  void abandon();

  // The Reply for a handler. When its last copy is gone, the slot counts as abandoned.
  static Reply reply_for(std::shared_ptr<ReplySlot> slot);

  bool ready() const;
  // Calls `wake` once, on any thread, as soon as there is an answer; at once if there is one.
  void when_ready(std::function<void()> wake);
  // nullopt: abandoned. Only when ready().
  std::optional<Response> take();

 private:
  void finish(std::optional<Response> response);

  mutable std::mutex mutex_;
  bool ready_ = false;
  std::optional<Response> response_;
  std::function<void()> wake_;
};

}  // namespace teson::http
