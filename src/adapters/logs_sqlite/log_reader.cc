#include "adapters/logs_sqlite/log_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace teson {
namespace {

using sqlite::Statement;

constexpr int64_t kDayMillis = 86'400'000;
constexpr size_t kEventOverheadBytes = 26;  // as CloudWatch counts (PutLogEvents)

int64_t clamped(uint64_t index) { return static_cast<int64_t>(std::min(index, uint64_t{INT64_MAX})); }

// The smallest text that is larger than every text with this prefix; empty if there is none.
std::string after_prefix(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xFF) prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

// Names with a prefix that sort after a cursor. The later of the two is where the index is entered.
struct NameRange {
  std::string start;
  std::string after;
  std::string end;  // empty: no upper end
  NameRange(const std::string& prefix, const std::string& cursor)
      : start(std::max(prefix, cursor)), after(cursor), end(after_prefix(prefix)) {}
  void bind(Statement& statement, int first) const {
    statement.bind(first, start).bind(first + 1, after).bind(first + 2, end);
  }
};
constexpr const char* kInRange = "name >= ?{0} AND (?{1} = '' OR name > ?{1}) AND (?{2} = '' OR name < ?{2})";

Result<StoredLogGroup> group_of(const Statement& row) {
  StoredLogGroup group{std::string(row.text(0)), Instant{row.integer(1)}, std::nullopt, {}, row.integer(4)};
  if (!row.is_null(2)) group.retention_days = static_cast<int>(row.integer(2));
  const auto tags = nlohmann::json::parse(row.text(3), nullptr, false);
  if (!tags.is_object()) return fail(ErrorKind::kIo, "logs.db: the tags of log group '" + group.name + "' are damaged");
  for (const auto& [key, value] : tags.items()) {
    if (value.is_string()) group.tags[key] = value.get_ref<const std::string&>();
  }
  return group;
}
constexpr const char* kGroupColumns = "SELECT name, created_us, retention_days, tags, stored_bytes FROM log_groups";

StoredLogStream stream_of(const Statement& row) {
  StoredLogStream stream{std::string(row.text(0)), Instant{row.integer(1)}, std::nullopt, std::nullopt, std::nullopt};
  if (!row.is_null(2)) stream.first_event_ms = row.integer(2);
  if (!row.is_null(3)) stream.last_event_ms = row.integer(3);
  if (!row.is_null(4)) stream.last_ingested_ms = row.integer(4);
  return stream;
}
constexpr const char* kStreamColumns =
    "SELECT name, created_us, (SELECT min(timestamp_ms) FROM events WHERE stream_id = log_streams.id),"
    " (SELECT max(timestamp_ms) FROM events WHERE stream_id = log_streams.id), last_ingested_ms FROM log_streams";

struct GroupKey {
  int64_t id = 0;
  std::optional<int64_t> retention_days;
};

Result<std::optional<GroupKey>> find_group_key(sqlite::Reader& reader, const std::string& name) {
  auto statement = reader.statement("SELECT id, retention_days FROM log_groups WHERE name = ?");
  if (!statement) return std::unexpected(statement.error());
  const sqlite::ResetOnExit reset(**statement);
  (*statement)->bind(1, name);
  auto row = (*statement)->step();
  if (!row) return std::unexpected(row.error());
  if (!*row) return std::nullopt;
  GroupKey key{(*statement)->integer(0), std::nullopt};
  if (!(*statement)->is_null(1)) key.retention_days = (*statement)->integer(1);
  return key;
}

Result<GroupKey> require_group(sqlite::Reader& reader, const std::string& name) {
  auto key = find_group_key(reader, name);
  if (!key) return std::unexpected(key.error());
  if (!*key) return not_found("the log group '" + name + "' does not exist");
  return **key;
}

struct StreamKey {
  GroupKey group;
  int64_t id = 0;
};

Result<StreamKey> require_stream(sqlite::Reader& reader, const std::string& group, const std::string& name) {
  auto key = require_group(reader, group);
  if (!key) return std::unexpected(key.error());
  auto statement = reader.statement("SELECT id FROM log_streams WHERE group_id = ? AND name = ?");
  if (!statement) return std::unexpected(statement.error());
  const sqlite::ResetOnExit reset(**statement);
  (*statement)->bind(1, key->id).bind(2, name);
  auto row = (*statement)->step();
  if (!row) return std::unexpected(row.error());
  if (!*row) return not_found("the log stream '" + name + "' does not exist");
  return StreamKey{*key, (*statement)->integer(0)};
}

// Steps through the rows and hands each to `take` until it says that it has enough.
template <class Take>
Status each_row(Statement& statement, Take take) {
  const sqlite::ResetOnExit reset(statement);
  while (true) {
    auto row = statement.step();
    if (!row) return std::unexpected(row.error());
    if (!*row || !take(statement)) return {};
  }
}

}  // namespace

Result<std::optional<StoredLogGroup>> LogReader::find_group(const std::string& name) const {
  auto reader = pool_.borrow();
  if (!reader) return std::unexpected(reader.error());
  auto statement = (*reader)->statement(std::string(kGroupColumns) + " WHERE name = ?");
  if (!statement) return std::unexpected(statement.error());
  const sqlite::ResetOnExit reset(**statement);
  (*statement)->bind(1, name);
  auto row = (*statement)->step();
  if (!row) return std::unexpected(row.error());
  if (!*row) return std::nullopt;
  return group_of(**statement);
}

Result<std::vector<StoredLogGroup>> LogReader::list_groups(const std::string& prefix, const std::string& after,
                                                           int limit) const {
  std::vector<StoredLogGroup> groups;
  if (limit <= 0) return groups;
  auto reader = pool_.borrow();
  if (!reader) return std::unexpected(reader.error());
  auto statement = (*reader)->statement(kGroupColumns + (" WHERE " + fmt::format(fmt::runtime(kInRange), 1, 2, 3)) +
                                        " ORDER BY name LIMIT ?4");
  if (!statement) return std::unexpected(statement.error());
  const NameRange range(prefix, after);
  range.bind(**statement, 1);
  (*statement)->bind(4, limit);
  Status damaged;
  auto done = each_row(**statement, [&](const Statement& row) {
    auto group = group_of(row);
    if (!group) {
      damaged = std::unexpected(group.error());
      return false;
    }
    groups.push_back(std::move(*group));
    return true;
  });
  if (!done) return std::unexpected(done.error());
  if (!damaged) return std::unexpected(damaged.error());
  return groups;
}

Result<std::optional<StoredLogStream>> LogReader::find_stream(const std::string& group, const std::string& name) const {
  auto reader = pool_.borrow();
  if (!reader) return std::unexpected(reader.error());
  auto key = require_group(**reader, group);
  if (!key) return std::unexpected(key.error());
  auto statement = (*reader)->statement(std::string(kStreamColumns) + " WHERE group_id = ? AND name = ?");
  if (!statement) return std::unexpected(statement.error());
  (*statement)->bind(1, key->id).bind(2, name);
  std::optional<StoredLogStream> found;
  auto done = each_row(**statement, [&](const Statement& row) {
    found = stream_of(row);
    return false;
  });
  if (!done) return std::unexpected(done.error());
  return found;
}

Result<std::vector<StoredLogStream>> LogReader::list_streams(const std::string& group, const std::string& prefix,
                                                             const std::string& after, int limit) const {
  auto reader = pool_.borrow();
  if (!reader) return std::unexpected(reader.error());
  auto key = require_group(**reader, group);
  if (!key) return std::unexpected(key.error());
  std::vector<StoredLogStream> streams;
  if (limit <= 0) return streams;
  auto statement = (*reader)->statement(std::string(kStreamColumns) + " WHERE group_id = ?1 AND " +
                                        fmt::format(fmt::runtime(kInRange), 2, 3, 4) + " ORDER BY name LIMIT ?5");
  if (!statement) return std::unexpected(statement.error());
  const NameRange range(prefix, after);
  (*statement)->bind(1, key->id);
  range.bind(**statement, 2);
  (*statement)->bind(5, limit);
  auto done = each_row(**statement, [&](const Statement& row) {
    streams.push_back(stream_of(row));
    return true;
  });
  if (!done) return std::unexpected(done.error());
  return streams;
}

Result<std::vector<StoredLogEvent>> LogReader::read_events(const std::string& group, const std::string& stream,
                                                           const LogRead& read, Instant now) const {
  auto reader = pool_.borrow();
  if (!reader) return std::unexpected(reader.error());
  auto key = require_stream(**reader, group, stream);
  if (!key) return std::unexpected(key.error());
  LogPosition from = read.from;
  if (key->group.retention_days) {
    from = std::max(from, LogPosition{now.millis() - *key->group.retention_days * kDayMillis, 0});
  }
  const bool oldest = read.take == LogEnd::kOldest;
  auto statement = (*reader)->statement(
      std::string("SELECT timestamp_ms, idx, ingested_ms, message FROM events WHERE stream_id = ?"
                  " AND (timestamp_ms, idx) >= (?, ?) AND (timestamp_ms, idx) < (?, ?)") +
      (oldest ? " ORDER BY timestamp_ms, idx LIMIT ?" : " ORDER BY timestamp_ms DESC, idx DESC LIMIT ?"));
  if (!statement) return std::unexpected(statement.error());
  (*statement)->bind(1, key->id).bind(2, from.timestamp_ms).bind(3, clamped(from.index));
  (*statement)->bind(4, read.until.timestamp_ms).bind(5, clamped(read.until.index)).bind(6, clamped(read.max_events));
  std::vector<StoredLogEvent> events;
  size_t bytes = 0;
  auto done = each_row(**statement, [&](const Statement& row) {
    const std::string_view message = row.text(3);
    bytes += message.size() + kEventOverheadBytes;
    if (bytes > read.max_bytes && !events.empty()) return false;
    events.push_back({{row.integer(0), static_cast<uint64_t>(row.integer(1))}, row.integer(2), std::string(message)});
    return true;
  });
  if (!done) return std::unexpected(done.error());
  if (!oldest) std::ranges::reverse(events);
  return events;
}

Result<bool> LogReader::is_place(const std::string& group, const std::string& stream, LogPosition position) const {
  auto reader = pool_.borrow();
  if (!reader) return std::unexpected(reader.error());
  auto key = require_stream(**reader, group, stream);
  if (!key) return std::unexpected(key.error());
  auto statement =
      (*reader)->statement("SELECT 1 FROM events WHERE stream_id = ? AND timestamp_ms = ? AND idx IN (?, ?)");
  if (!statement) return std::unexpected(statement.error());
  const int64_t index = clamped(position.index);
  (*statement)->bind(1, key->id).bind(2, position.timestamp_ms).bind(3, index).bind(4, index - 1);
  bool found = false;
  auto done = each_row(**statement, [&](const Statement&) {
    found = true;
    return false;
  });
  if (!done) return std::unexpected(done.error());
  return found;
}

Result<std::vector<ExpiringStream>> LogReader::expiring_streams(Instant now) const {
  auto reader = pool_.borrow();
  if (!reader) return std::unexpected(reader.error());
  auto statement = (*reader)->statement(
      "SELECT g.id, s.id, ?1 - g.retention_days * 86400000 AS cutoff FROM log_groups g JOIN log_streams s"
      " ON s.group_id = g.id WHERE g.retention_days IS NOT NULL"
      " AND EXISTS (SELECT 1 FROM events WHERE stream_id = s.id AND timestamp_ms < ?1 - g.retention_days * 86400000)");
  if (!statement) return std::unexpected(statement.error());
  (*statement)->bind(1, now.millis());
  std::vector<ExpiringStream> streams;
  auto done = each_row(**statement, [&](const Statement& row) {
    streams.push_back({row.integer(0), row.integer(1), row.integer(2)});
    return true;
  });
  if (!done) return std::unexpected(done.error());
  return streams;
}

}  // namespace teson
