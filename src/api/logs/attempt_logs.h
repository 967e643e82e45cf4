// The group /aws/batch/job: one stream for each attempt that began to run, read from the attempt's own directory.
//
// Thread: any. Remembers first and last times of ended attempts (up to 100,000), so that listing by time opens each
// of them once.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

#include "api/logs/log_group.h"
#include "ports/clock.h"
#include "ports/history.h"

namespace teson::logs {

class AttemptLogs final : public LogGroup {
 public:
  static constexpr const char* kName = "/aws/batch/job";

  // `history` and `clock` must outlive this.
  AttemptLogs(std::string data_root, const History& history, const Clock& clock)
      : data_root_(std::move(data_root)), history_(history), clock_(clock) {}

  Result<std::optional<StreamInfo>> find(const std::string& name) const override;
  Result<std::vector<StreamInfo>> list(const std::string& prefix, const std::string& after, int limit) const override;
  Result<std::unique_ptr<EventSource>> open(const StreamInfo& stream) const override;
  Result<StreamTimes> times(const StreamInfo& stream) const override;
  bool is_surely_before(const StreamInfo& stream, int64_t millis) const override;

  // The sizes of all logs, at most a minute old: DescribeLogGroups is asked often and would look at every file.
  int64_t stored_bytes() const;

 private:
  std::string data_root_;
  const History& history_;
  const Clock& clock_;

  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, StreamTimes> ended_times_;  // by stream name
  mutable std::optional<Instant> summed_at_;
  mutable int64_t summed_bytes_ = 0;
};

}  // namespace teson::logs
