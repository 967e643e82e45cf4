// Counts answers by what was asked and how it went, in front of the router.
//
// Thread: any. The handler behind it must outlive it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "api/http/http.h"

namespace teson::metrics {

class RequestCounts final : public http::Handler {
 public:
  static constexpr std::array kFamilies = {"batch", "logs", "teson", "health", "metrics", "other"};
  static constexpr std::array kClasses = {"2xx", "4xx", "5xx", "other"};

  explicit RequestCounts(http::Handler& behind) : behind_(behind) {}
  void handle(http::Request request, http::Reply reply) override;

  uint64_t count(size_t family, size_t status_class) const { return counts_[family][status_class].load(); }

 private:
  http::Handler& behind_;
  std::array<std::array<std::atomic<uint64_t>, kClasses.size()>, kFamilies.size()> counts_{};
};

}  // namespace teson::metrics
