#include "adapters/logs_sqlite/logs_sqlite.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "adapters/logs_sqlite/log_reader.h"
#include "adapters/logs_sqlite/log_writer.h"

namespace teson {
namespace {

using sqlite::Statement;

// Events that one transaction removes: a few milliseconds, then others have their turn.
constexpr int64_t kRemovedPerSlice = 5'000;

std::string tags_text(const Tags& tags) {
  return nlohmann::json(tags).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<int64_t> require_group(LogTransaction& t, const std::string& name) {
  auto id = t.query("SELECT id FROM log_groups WHERE name = ?", [&](Statement& s) { s.bind(1, name); });
  if (!id) return std::unexpected(id.error());
  if (!*id) return not_found("the log group '" + name + "' does not exist");
  return **id;
}

Result<int64_t> require_stream(LogTransaction& t, int64_t group_id, const std::string& name) {
  auto id = t.query("SELECT id FROM log_streams WHERE group_id = ? AND name = ?",
                    [&](Statement& s) { s.bind(1, group_id).bind(2, name); });
  if (!id) return std::unexpected(id.error());
  if (!*id) return not_found("the log stream '" + name + "' does not exist");
  return **id;
}

// Turns the result of a change into a Status.
Status status_of(const Result<int>& changed) {
  if (!changed) return std::unexpected(changed.error());
  return {};
}

Status add_bytes(LogTransaction& t, int64_t group_id, int64_t stream_id, int64_t bytes) {
  auto changed = t.change("UPDATE log_groups SET stored_bytes = stored_bytes + ? WHERE id = ?",
                          [&](Statement& s) { s.bind(1, bytes).bind(2, group_id); });
  if (!changed) return std::unexpected(changed.error());
  return status_of(t.change("UPDATE log_streams SET stored_bytes = stored_bytes + ? WHERE id = ?",
                            [&](Statement& s) { s.bind(1, bytes).bind(2, stream_id); }));
}

// A slice of the oldest events of a stream before a time. Returns how many went; fewer than a slice: that was all.
struct Removed {
  int64_t events = 0;
  int64_t bytes = 0;
};
Result<Removed> remove_slice(LogTransaction& t, int64_t stream_id, int64_t before_ms) {
  auto found = t.statement(
      "SELECT count(*), coalesce(sum(length(CAST(message AS BLOB))), 0) FROM (SELECT message FROM events"
      " WHERE stream_id = ? AND timestamp_ms < ? ORDER BY timestamp_ms, idx LIMIT ?)");
  if (!found) return std::unexpected(found.error());
  (*found)->bind(1, stream_id).bind(2, before_ms).bind(3, kRemovedPerSlice);
  auto row = (*found)->step();
  if (!row) return std::unexpected(row.error());
  const Removed removed{(*found)->integer(0), (*found)->integer(1)};
  (*found)->reset();
  if (removed.events == 0) return removed;
  auto done = t.change(
      "DELETE FROM events WHERE (stream_id, timestamp_ms, idx) IN (SELECT stream_id, timestamp_ms, idx FROM events"
      " WHERE stream_id = ? AND timestamp_ms < ? ORDER BY timestamp_ms, idx LIMIT ?)",
      [&](Statement& s) { s.bind(1, stream_id).bind(2, before_ms).bind(3, kRemovedPerSlice); });
  if (!done) return std::unexpected(done.error());
  return removed;
}

class Store final : public SqliteLogStore {
 public:
  explicit Store(const std::string& data)
      : readers_(data + "/logs.db"), writer_(data + "/logs.db", readers_), reader_(readers_) {}

  Status start() { return writer_.open(); }

  Status create_group(const std::string& name, const Tags& tags, Instant now) override {
    return writer_.transact([&](LogTransaction& t) -> Status {
      const std::string text = tags_text(tags);
      auto made = t.change("INSERT OR IGNORE INTO log_groups(name, created_us, tags) VALUES(?, ?, ?)",
                           [&](Statement& s) { s.bind(1, name).bind(2, now.micros).bind(3, text); });
      if (made && *made == 0) return conflict("the log group '" + name + "' exists already");
      return status_of(made);
    });
  }

  Status delete_group(const std::string& name) override {
    auto done = writer_.transact([&](LogTransaction& t) -> Status {
      auto group = require_group(t, name);
      if (!group) return std::unexpected(group.error());
      const auto bind_group = [&](Statement& s) { s.bind(1, *group); };
      auto doomed = t.change("INSERT INTO doomed SELECT id FROM log_streams WHERE group_id = ?", bind_group);
      if (!doomed) return std::unexpected(doomed.error());
      auto streams = t.change("DELETE FROM log_streams WHERE group_id = ?", bind_group);
      if (!streams) return std::unexpected(streams.error());
      return status_of(t.change("DELETE FROM log_groups WHERE id = ?", bind_group));
    });
    return done ? purge_quietly() : done;
  }

  Status set_retention(const std::string& group, std::optional<int> days) override {
    return update_group(group, "UPDATE log_groups SET retention_days = ? WHERE name = ?", [&](Statement& s) {
      if (days) {
        s.bind(1, *days);
      } else {
        s.bind_null(1);
      }
    });
  }

  Status set_tags(const std::string& group, const Tags& tags) override {
    const std::string text = tags_text(tags);
    return update_group(group, "UPDATE log_groups SET tags = ? WHERE name = ?", [&](Statement& s) { s.bind(1, text); });
  }

  Status create_stream(const std::string& group, const std::string& name, Instant now) override {
    return writer_.transact([&](LogTransaction& t) -> Status {
      auto group_id = require_group(t, group);
      if (!group_id) return std::unexpected(group_id.error());
      auto made = t.change("INSERT OR IGNORE INTO log_streams(group_id, name, created_us) VALUES(?, ?, ?)",
                           [&](Statement& s) { s.bind(1, *group_id).bind(2, name).bind(3, now.micros); });
      if (made && *made == 0) return conflict("the log stream '" + name + "' exists already");
      return status_of(made);
    });
  }

  Status delete_stream(const std::string& group, const std::string& name) override {
    auto done = writer_.transact([&](LogTransaction& t) -> Status {
      auto group_id = require_group(t, group);
      if (!group_id) return std::unexpected(group_id.error());
      auto stream = require_stream(t, *group_id, name);
      if (!stream) return std::unexpected(stream.error());
      const auto bind_stream = [&](Statement& s) { s.bind(1, *stream); };
      auto bytes = t.query("SELECT stored_bytes FROM log_streams WHERE id = ?", bind_stream);
      if (!bytes) return std::unexpected(bytes.error());
      if (auto counted = add_bytes(t, *group_id, *stream, -bytes->value_or(0)); !counted) return counted;
      auto doomed = t.change("INSERT INTO doomed VALUES(?)", bind_stream);
      if (!doomed) return std::unexpected(doomed.error());
      return status_of(t.change("DELETE FROM log_streams WHERE id = ?", bind_stream));
    });
    return done ? purge_quietly() : done;
  }

  Status put_events(const std::string& group, const std::string& stream, std::span<const NewLogEvent> events,
                    Instant now) override {
    return writer_.transact([&](LogTransaction& t) -> Status {
      auto group_id = require_group(t, group);
      if (!group_id) return std::unexpected(group_id.error());
      auto stream_id = require_stream(t, *group_id, stream);
      if (!stream_id) return std::unexpected(stream_id.error());
      return insert_events(t, *group_id, *stream_id, events, now);
    });
  }

  Result<std::optional<StoredLogGroup>> find_group(const std::string& name) const override {
    return reader_.find_group(name);
  }
  Result<std::vector<StoredLogGroup>> list_groups(const std::string& prefix, const std::string& after,
                                                  int limit) const override {
    return reader_.list_groups(prefix, after, limit);
  }
  Result<std::optional<StoredLogStream>> find_stream(const std::string& group, const std::string& name) const override {
    return reader_.find_stream(group, name);
  }
  Result<std::vector<StoredLogStream>> list_streams(const std::string& group, const std::string& prefix,
                                                    const std::string& after, int limit) const override {
    return reader_.list_streams(group, prefix, after, limit);
  }
  Result<std::vector<StoredLogEvent>> read_events(const std::string& group, const std::string& stream,
                                                  const LogRead& read, Instant now) const override {
    return reader_.read_events(group, stream, read, now);
  }
  Result<bool> is_place(const std::string& group, const std::string& stream, LogPosition position) const override {
    return reader_.is_place(group, stream, position);
  }

  Result<uint64_t> sweep(Instant now) override {
    auto purged = purge();
    if (!purged) return purged;
    auto due = reader_.expiring_streams(now);
    if (!due) return std::unexpected(due.error());
    uint64_t removed = *purged;
    for (const ExpiringStream& stream : *due) {
      auto gone = expire(stream);
      if (!gone) return gone;
      removed += *gone;
    }
    return removed;
  }

 private:
  static Status insert_events(LogTransaction& t, int64_t group_id, int64_t stream_id,
                              std::span<const NewLogEvent> events, Instant now) {
    const auto bind_stream = [&](Statement& s) { s.bind(1, stream_id); };
    auto next = t.query("SELECT next_index FROM log_streams WHERE id = ?", bind_stream);
    if (!next) return std::unexpected(next.error());
    int64_t index = next->value_or(1);
    int64_t bytes = 0;
    auto insert =
        t.statement("INSERT INTO events(stream_id, timestamp_ms, idx, ingested_ms, message) VALUES(?, ?, ?, ?, ?)");
    if (!insert) return std::unexpected(insert.error());
    for (const NewLogEvent& event : events) {
      (*insert)->bind(1, stream_id).bind(2, event.timestamp_ms).bind(3, index++).bind(4, now.millis());
      (*insert)->bind(5, event.message);
      if (auto done = (*insert)->run(); !done) return done;
      bytes += static_cast<int64_t>(event.message.size());
    }
    if (events.empty()) return {};
    auto noted = t.change("UPDATE log_streams SET next_index = ?, last_ingested_ms = ? WHERE id = ?",
                          [&](Statement& s) { s.bind(1, index).bind(2, now.millis()).bind(3, stream_id); });
    if (!noted) return std::unexpected(noted.error());
    return add_bytes(t, group_id, stream_id, bytes);
  }

  Status update_group(const std::string& group, const char* sql, const std::function<void(Statement&)>& bind) {
    return writer_.transact([&](LogTransaction& t) -> Status {
      auto changed = t.change(sql, [&](Statement& s) {
        bind(s);
        s.bind(2, group);
      });
      if (changed && *changed == 0) return not_found("the log group '" + group + "' does not exist");
      return status_of(changed);
    });
  }

  // The events of deleted streams, a slice a transaction.
  Result<uint64_t> purge() {
    uint64_t removed = 0;
    for (bool more = true; more;) {
      auto done = writer_.transact([&](LogTransaction& t) -> Status {
        auto stream = t.query("SELECT stream_id FROM doomed LIMIT 1", [](Statement&) {});
        if (!stream) return std::unexpected(stream.error());
        more = stream->has_value();
        if (!more) return {};
        auto slice = remove_slice(t, **stream, INT64_MAX);
        if (!slice) return std::unexpected(slice.error());
        removed += static_cast<uint64_t>(slice->events);
        if (slice->events == kRemovedPerSlice) return {};
        return status_of(
            t.change("DELETE FROM doomed WHERE stream_id = ?", [&](Statement& s) { s.bind(1, **stream); }));
      });
      if (!done) return std::unexpected(done.error());
    }
    return removed;
  }

  // The deletion itself is done and durable; what is left of it the next sweep can do.
  Status purge_quietly() {
    (void)purge();
    return {};
  }

  Result<uint64_t> expire(const ExpiringStream& stream) {
    uint64_t removed = 0;
    for (bool more = true; more;) {
      auto done = writer_.transact([&](LogTransaction& t) -> Status {
        auto slice = remove_slice(t, stream.id, stream.expired_before_ms);
        if (!slice) return std::unexpected(slice.error());
        removed += static_cast<uint64_t>(slice->events);
        more = slice->events == kRemovedPerSlice;
        return add_bytes(t, stream.group_id, stream.id, -slice->bytes);
      });
      if (!done) return std::unexpected(done.error());
    }
    return removed;
  }

  mutable sqlite::ReadPool readers_;
  LogWriter writer_;
  LogReader reader_;
};

}  // namespace

Result<std::unique_ptr<SqliteLogStore>> SqliteLogStore::open(const std::string& data) {
  auto store = std::make_unique<Store>(data);
  if (auto started = store->start(); !started) return std::unexpected(started.error());
  return store;
}

}  // namespace teson
