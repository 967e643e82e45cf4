// GET /metrics: what the server does and holds, for Prometheus.
//
// Thread: handle() on any; the loop is asked for its part. Cost: O(queues + environments + instances + live attempts).
#pragma once

#include <string>

#include "api/http/http.h"
#include "api/metrics/exposition.h"
#include "api/metrics/request_counts.h"
#include "control/loop.h"
#include "ports/commit_times.h"

namespace teson::metrics {

class MetricsApi final : public http::Handler {
 public:
  // `router` answers what the counts are of; `journal` is the path of the journal's file, and `commit_times`, read on
  // the loop's thread, tells of its commits. All must outlive this.
  MetricsApi(Loop& loop, http::Handler& router, std::string journal, const CommitTimes& commit_times,
             std::string version);

  void handle(http::Request request, http::Reply reply) override;
  // The router, with its answers counted.
  http::Handler& counted() { return requests_; }

 private:
  void put_requests(Exposition& out) const;

  Loop& loop_;
  RequestCounts requests_;
  std::string journal_;
  const CommitTimes& commit_times_;
  std::string version_;
};

// What the loop knows. On its thread.
void put_state(const Controller& controller, Exposition& out);
// Memory and files of this process, and the size of the journal with what is not yet merged into it.
void put_process(const std::string& journal, Exposition& out);

}  // namespace teson::metrics
