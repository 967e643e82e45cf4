#include "api/logs/attempt_logs.h"

#include <sys/stat.h>

#include <cerrno>

#include "api/logs/attempt_log.h"
#include "attempt_dir/paths.h"
#include "base/check.h"
#include "base/try.h"

namespace teson::logs {
namespace {

constexpr size_t kRememberedStreams = 100'000;
constexpr Duration kSumStaysGood = Duration::seconds(60);
// How long after a byte was written its time may at most lie: the agent notes sizes several times a second.
constexpr Duration kNoteDelay = Duration::seconds(60);

StreamInfo info_of(LogStreamRecord record) {
  return {.name = std::move(record.name),
          .created_millis = record.created.millis(),
          .attempt = record.attempt,
          .times = {}};
}

}  // namespace

Result<std::optional<StreamInfo>> AttemptLogs::find(const std::string& name) const {
  TESON_TRY(auto record, history_.find_stream(name));
  if (!record) return std::optional<StreamInfo>();
  return std::optional<StreamInfo>(info_of(std::move(*record)));
}

Result<std::vector<StreamInfo>> AttemptLogs::list(const std::string& prefix, const std::string& after,
                                                  int limit) const {
  TESON_TRY(auto records, history_.list_streams(prefix, after, limit));
  std::vector<StreamInfo> streams;
  streams.reserve(records.size());
  for (LogStreamRecord& record : records) streams.push_back(info_of(std::move(record)));
  return streams;
}

Result<std::unique_ptr<EventSource>> AttemptLogs::open(const StreamInfo& stream) const {
  TESON_CHECK(stream.attempt.has_value(), "a stream of this group belongs to an attempt");
  TESON_TRY(std::unique_ptr<EventSource> log,
            AttemptLog::open(attempt_paths(data_root_, *stream.attempt), clock_.now()));
  return log;
}

Result<StreamTimes> AttemptLogs::times(const StreamInfo& stream) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = ended_times_.find(stream.name); known != ended_times_.end()) return known->second;
  }
  auto opened = AttemptLog::open(attempt_paths(data_root_, *stream.attempt), clock_.now());
  if (!opened && opened.error().kind == ErrorKind::kDenied) return StreamTimes();
  if (!opened) return std::unexpected(opened.error());
  const auto log = std::move(*opened);
  StreamTimes times;
  TESON_TRY(const auto first, log->first(kStreamBegin, kStreamEnd, {.events = 1}));
  TESON_TRY(const auto last, log->last(kStreamBegin, kStreamEnd, {.events = 1}));
  if (!first.empty()) times.first_millis = first.front().millis;
  if (!last.empty()) times.last_millis = last.back().millis;
  times.last_ingested_millis = times.last_millis;
  if (log->complete()) {
    const std::lock_guard lock(mutex_);
    if (ended_times_.size() >= kRememberedStreams) ended_times_.clear();
    ended_times_[stream.name] = times;
  }
  return times;
}

int64_t AttemptLogs::stored_bytes() const {
  const Instant now = clock_.now();
  {
    const std::lock_guard lock(mutex_);
    if (summed_at_ && now < *summed_at_ + kSumStaysGood) return summed_bytes_;
  }
  int64_t sum = 0;
  const auto streams = all_streams(*this, "");
  // The figure is for information: without the history it is what it was.
  if (!streams) {
    const std::lock_guard lock(mutex_);
    return summed_bytes_;
  }
  for (const StreamInfo& stream : *streams) {
    struct stat status{};
    const std::string path = attempt_paths(data_root_, *stream.attempt).log();
    if (::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) sum += status.st_size;
  }
  const std::lock_guard lock(mutex_);
  summed_at_ = now;
  summed_bytes_ = sum;
  return sum;
}

bool AttemptLogs::is_surely_before(const StreamInfo& stream, int64_t millis) const {
  struct stat status{};
  if (::lstat(attempt_paths(data_root_, *stream.attempt).log().c_str(), &status) != 0) return errno == ENOENT;
  const Instant written{status.st_mtim.tv_sec * 1'000'000 + status.st_mtim.tv_nsec / 1'000};
  return (written + kNoteDelay).millis() < millis;
}

}  // namespace teson::logs
