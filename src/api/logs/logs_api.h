// CloudWatch Logs over HTTP: JSON 1.1, "X-Amz-Target: Logs_20140328.<operation>".
//
// Thread: handle() on any thread; it never blocks, as everything is done by a few threads of its own. When too many
// requests wait, the answer is ServiceUnavailableException (503), which SDKs retry by themselves.
#pragma once

#include <string>

#include "api/http/http.h"
#include "api/logs/service.h"
#include "api/logs/worker_pool.h"

namespace teson::logs {

class LogsApi final : public http::Handler {
 public:
  // `data_root` holds attempts/. `history`, `store` and `clock` must outlive this.
  LogsApi(std::string data_root, const History& history, LogStore& store, const Clock& clock, LogsSettings settings);

  void handle(http::Request request, http::Reply reply) override;
  http::Action action(const http::Request& request) const override;

 private:
  Service service_;
  WorkerPool workers_;  // last: joined before the service goes
};

}  // namespace teson::logs
