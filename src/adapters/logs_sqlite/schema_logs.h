// The tables of <data>/logs.db. Steps are only ever appended; a released step is never edited.
#pragma once

namespace teson {

// Ids are never used again (AUTOINCREMENT), so that events which outlive their stream can be removed in slices later:
// `doomed` names those streams.
inline constexpr const char* kLogSteps[] = {
    R"sql(
CREATE TABLE log_groups(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  created_us INTEGER NOT NULL,
  retention_days INTEGER,
  tags TEXT NOT NULL,
  stored_bytes INTEGER NOT NULL DEFAULT 0);
CREATE TABLE log_streams(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  group_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  created_us INTEGER NOT NULL,
  next_index INTEGER NOT NULL DEFAULT 1,
  last_ingested_ms INTEGER,
  stored_bytes INTEGER NOT NULL DEFAULT 0,
  UNIQUE(group_id, name));
CREATE TABLE events(
  stream_id INTEGER NOT NULL,
  timestamp_ms INTEGER NOT NULL,
  idx INTEGER NOT NULL,
  ingested_ms INTEGER NOT NULL,
  message TEXT NOT NULL,
  PRIMARY KEY(stream_id, timestamp_ms, idx)) WITHOUT ROWID;
CREATE TABLE doomed(stream_id INTEGER PRIMARY KEY);
)sql"};

inline constexpr const char* kLogTablesAlwaysChecked[] = {"meta", "log_groups", "log_streams"};

}  // namespace teson
