// The tables of <data>/teson.db. Steps are only ever appended; a released step is never edited.
#pragma once

namespace teson {

// facts    what the journal keeps; numbers never start again, rows up to the older snapshot are deleted
// jobs     the archive of finished jobs; ord is Job::order, so that the newest page is the table's own order
// children the archive of arrays' children that had attempts; the others stand in their array's row
// streams  a log stream's name and whose it is
//
// Each index serves one filter of HistoryQuery and goes on with ord, so that a page is read in order and without
// sorting. What follows ord spares a look at the row while names are searched.
inline constexpr const char* kJournalSteps[] = {
    R"sql(
CREATE TABLE facts(seq INTEGER PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE jobs(
  ord INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE,
  queue TEXT NOT NULL,
  name TEXT NOT NULL,
  name_lower TEXT NOT NULL,
  definition TEXT NOT NULL,
  revision INTEGER NOT NULL,
  succeeded INTEGER NOT NULL,
  created_us INTEGER NOT NULL,
  body TEXT NOT NULL);
CREATE INDEX jobs_queue ON jobs(queue, ord, name_lower);
CREATE INDEX jobs_queue_succeeded ON jobs(queue, succeeded, ord);
CREATE INDEX jobs_succeeded ON jobs(succeeded, ord);
CREATE INDEX jobs_name ON jobs(name_lower, ord, queue, succeeded);
CREATE INDEX jobs_definition ON jobs(definition, ord);
CREATE INDEX jobs_revision ON jobs(definition, revision, ord);
CREATE INDEX jobs_created ON jobs(created_us, ord);
CREATE TABLE streams(
  name TEXT PRIMARY KEY,
  job BLOB NOT NULL,
  number INTEGER NOT NULL,
  created_us INTEGER NOT NULL) WITHOUT ROWID;
)sql",
    R"sql(
CREATE TABLE children(
  parent BLOB NOT NULL,
  idx INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY(parent, idx)) WITHOUT ROWID;
)sql"};

inline constexpr const char* kAlwaysChecked[] = {"meta", "facts"};

}  // namespace teson
