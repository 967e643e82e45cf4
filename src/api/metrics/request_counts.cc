#include "api/metrics/request_counts.h"

#include <utility>

namespace teson::metrics {
namespace {

enum Family : size_t { kBatch, kLogs, kTeson, kHealth, kMetrics, kOther };

Family family_of(const http::Request& request) {
  if (request.path.starts_with("/v1/")) return kBatch;
  if (request.path.starts_with("/teson/")) return kTeson;
  if (request.path == "/healthz") return kHealth;
  if (request.path == "/metrics") return kMetrics;
  return request.headers.get("x-amz-target").starts_with("Logs_") ? kLogs : kOther;
}

size_t class_of(int status) {
  switch (status / 100) {
    case 2:
      return 0;
    case 4:
      return 1;
    case 5:
      return 2;
    default:
      return 3;
  }
}

}  // namespace

void RequestCounts::handle(http::Request request, http::Reply reply) {
  auto& counts = counts_[family_of(request)];
  behind_.handle(std::move(request), [&counts, reply = std::move(reply)](http::Response response) {
    counts[class_of(response.status)].fetch_add(1, std::memory_order_relaxed);
    reply(std::move(response));
  });
}

}  // namespace teson::metrics
