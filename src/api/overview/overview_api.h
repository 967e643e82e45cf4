// GET /teson/v1/overview: the host, its instances, what each queue has and what runs, at one moment. Ours, not AWS's,
// which shows instances in EC2 and ECS.
//
// Thread: handle() on any; the loop is asked. Cost: O(queues + instances + live attempts).
#pragma once

#include "api/http/http.h"
#include "control/loop.h"

namespace teson::overview {

class OverviewApi final : public http::Handler {
 public:
  static constexpr const char* kPath = "/teson/v1/overview";

  explicit OverviewApi(Loop& loop) : loop_(loop) {}  // it must outlive this

  void handle(http::Request request, http::Reply reply) override;
  http::Action action(const http::Request& request) const override;

 private:
  Loop& loop_;
};

}  // namespace teson::overview
