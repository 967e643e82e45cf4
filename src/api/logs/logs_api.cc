#include "api/logs/logs_api.h"

#include <memory>

namespace teson::logs {
namespace {

constexpr size_t kThreads = 4;
constexpr size_t kMaxWaiting = 1'000;

}  // namespace

LogsApi::LogsApi(std::string data_root, const History& history, LogStore& store, const Clock& clock,
                 LogsSettings settings)
    : service_(std::move(data_root), history, store, clock, std::move(settings)), workers_(kThreads, kMaxWaiting) {}

http::Action LogsApi::action(const http::Request& request) const {
  const auto changes = Service::changes(request.operation);
  // What is not known is refused as such, whoever asks.
  return {"logs:" + request.operation, changes.value_or(false) ? http::Need::kChange : http::Need::kRead};
}

void LogsApi::handle(http::Request request, http::Reply reply) {
  // Shared, as the task must be copyable and the request is still needed if it is refused.
  const auto shared = std::make_shared<const http::Request>(std::move(request));
  const bool accepted = workers_.submit([this, shared, reply] {
    std::string touched;
    const auto answer = service_.call(shared->operation, shared->body, shared->touched ? &touched : nullptr);
    shared->touches(touched);
    reply(answer ? http::json_response(*shared, *answer) : http::error_response(*shared, answer.error()));
  });
  if (!accepted) {
    reply(http::error_response(*shared, wire::server_error("ServiceUnavailableException",
                                                           "Too many log requests are waiting: try again.", 503)));
  }
}

}  // namespace teson::logs
