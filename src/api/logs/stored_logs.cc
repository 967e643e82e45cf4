#include "api/logs/stored_logs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/try.h"

namespace teson::logs {
namespace {

LogPosition stored(Position position) { return {position.millis, position.index}; }

StreamInfo info_of(StoredLogStream stream) {
  return {.name = std::move(stream.name),
          .created_millis = stream.created.millis(),
          .attempt = std::nullopt,
          .times = {stream.first_event_ms, stream.last_event_ms, stream.last_ingested_ms}};
}

class StoredStream final : public EventSource {
 public:
  StoredStream(const LogStore& store, std::string group, std::string stream, Instant now)
      : store_(store), group_(std::move(group)), stream_(std::move(stream)), now_(now) {}

  Result<bool> is_place(Position position) override {
    if (position == kStreamBegin) return true;
    return store_.is_place(group_, stream_, stored(position));
  }

  Result<Position> first_at_or_after(int64_t millis) override {
    TESON_TRY(const auto found, first({millis, 0}, kStreamEnd, {.events = 1}));
    if (found.empty()) return end();
    return found.front().begin;
  }

  Result<Position> end() override {
    TESON_TRY(const auto newest, last(kStreamBegin, kStreamEnd, {.events = 1}));
    return newest.empty() ? kStreamBegin : newest.front().end;
  }

  Result<std::vector<Event>> first(Position from, Position until, PageLimits limits) override {
    return read(from, until, limits, LogEnd::kOldest);
  }
  Result<std::vector<Event>> last(Position from, Position until, PageLimits limits) override {
    return read(from, until, limits, LogEnd::kNewest);
  }

 private:
  Result<std::vector<Event>> read(Position from, Position until, PageLimits limits, LogEnd take) const {
    const LogRead what{stored(from), stored(until), take, limits.events, limits.bytes};
    TESON_TRY(auto found, store_.read_events(group_, stream_, what, now_));
    std::vector<Event> events;
    events.reserve(found.size());
    for (StoredLogEvent& event : found) {
      const auto [millis, index] = event.position;
      events.push_back({{millis, index}, {millis, index + 1}, millis, event.ingested_ms, std::move(event.message)});
    }
    return events;
  }

  const LogStore& store_;
  std::string group_;
  std::string stream_;
  Instant now_;
};

class StoredGroup final : public LogGroup {
 public:
  StoredGroup(const LogStore& store, const Clock& clock, std::string name)
      : store_(store), clock_(clock), name_(std::move(name)) {}

  Result<std::optional<StreamInfo>> find(const std::string& name) const override {
    TESON_TRY(auto stream, store_.find_stream(name_, name));
    if (!stream) return std::optional<StreamInfo>();
    return std::optional<StreamInfo>(info_of(std::move(*stream)));
  }

  Result<std::vector<StreamInfo>> list(const std::string& prefix, const std::string& after, int limit) const override {
    TESON_TRY(auto found, store_.list_streams(name_, prefix, after, limit));
    std::vector<StreamInfo> streams;
    streams.reserve(found.size());
    for (StoredLogStream& stream : found) streams.push_back(info_of(std::move(stream)));
    return streams;
  }

  Result<std::unique_ptr<EventSource>> open(const StreamInfo& stream) const override {
    return std::make_unique<StoredStream>(store_, name_, stream.name, clock_.now());
  }

  Result<StreamTimes> times(const StreamInfo& stream) const override { return stream.times; }

  bool is_surely_before(const StreamInfo& stream, int64_t millis) const override {
    return stream.times.last_millis.value_or(millis - 1) < millis;
  }

 private:
  const LogStore& store_;
  const Clock& clock_;
  std::string name_;
};

}  // namespace

Result<std::optional<StoredLogGroup>> StoredLogs::find_group(const std::string& name) const {
  return store_.find_group(name);
}

Result<std::vector<StoredLogGroup>> StoredLogs::list_groups(const std::string& prefix, const std::string& after,
                                                            int limit) const {
  return store_.list_groups(prefix, after, limit);
}

Result<std::unique_ptr<LogGroup>> StoredLogs::open_group(const std::string& name) const {
  TESON_TRY(const auto group, store_.find_group(name));
  if (!group) return std::unique_ptr<LogGroup>();
  return std::make_unique<StoredGroup>(store_, clock_, name);
}

Status StoredLogs::create_group(const std::string& name, const Tags& tags) {
  return store_.create_group(name, tags, clock_.now());
}
Status StoredLogs::delete_group(const std::string& name) { return store_.delete_group(name); }
Status StoredLogs::set_retention(const std::string& name, std::optional<int> days) {
  return store_.set_retention(name, days);
}
Status StoredLogs::set_tags(const std::string& name, const Tags& tags) { return store_.set_tags(name, tags); }
Status StoredLogs::create_stream(const std::string& group, const std::string& name) {
  return store_.create_stream(group, name, clock_.now());
}
Status StoredLogs::delete_stream(const std::string& group, const std::string& name) {
  return store_.delete_stream(group, name);
}
Status StoredLogs::append(const std::string& group, const std::string& stream, std::span<const NewLogEvent> events) {
  return store_.put_events(group, stream, events, clock_.now());
}

}  // namespace teson::logs
