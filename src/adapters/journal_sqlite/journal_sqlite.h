// The journal, the archive and the log streams in <data>/teson.db, with snapshots beside it in <data>/snapshots.
//
// Thread: append() and load() by one owner; history() by anybody. A thread of its own takes the snapshots: it reads
// through a read-only connection, so that neither the owner nor a commit waits for one.
// Failure: ports/journal.h has the contract. After an I/O error append() refuses until load(), which closes every
// connection, lets SQLite recover from the files alone and makes durable what it then reports.
// Limits: a fact or job is at most 1,000,000,000 bytes of JSON (SQLite's); one process per data directory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "adapters/journal_sqlite/data_directory.h"
#include "ports/commit_times.h"
#include "ports/history.h"
#include "ports/journal.h"

namespace teson {

// The state after applying contents.facts to contents.snapshot: core's replay, given by the wiring.
using ReplayFunction = std::function<Snapshot(JournalContents)>;

struct JournalOptions {
  ReplayFunction replay;             // empty: no snapshots are taken
  uint64_t snapshot_every = 10'000;  // facts
};

// For metrics and `teson doctor`.
struct JournalStatus {
  uint64_t last_fact = 0;
  uint64_t first_kept_fact = 0;   // 0: none is kept
  uint64_t last_snapshot = 0;     // 0: none by this process
  uint64_t failed_snapshots = 0;  // since start
  std::string last_snapshot_error;
};

class SqliteJournal : public Journal {
 public:
  // The directory must stay open as long as the journal.
  static Result<std::unique_ptr<SqliteJournal>> open(const DataDirectory& directory, JournalOptions options);

  // Lives as long as the journal.
  virtual const History& history() const = 0;
  // Of the commits that succeeded. Thread: the owner. Lives as long as the journal.
  virtual const CommitTimes& commit_times() const = 0;
  // Thread: any.
  virtual JournalStatus status() const = 0;
  // Waits until no snapshot is due or being taken: for an orderly end, and for tests. Thread: the owner.
  virtual void finish_snapshots() = 0;
};

}  // namespace teson
