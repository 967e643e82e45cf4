// The thread that takes snapshots, so that start-up does not replay history for ever.
//
// It owns no state but its thread: it reads the newest whole snapshot and the facts after it through the pool, applies
// them with the given function, and writes the next snapshot. Facts are deleted by the journal's owner, later and in
// slices, up to deletable(): the older of the two snapshots that are known to be whole.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "adapters/journal_sqlite/journal_sqlite.h"
#include "adapters/journal_sqlite/snapshot_store.h"
#include "adapters/sqlite/read_pool.h"

namespace teson {

// The newest whole snapshot and the facts after it up to `last` (0: all there are). kIo when facts are missing between
// the two, or when a fact cannot be understood.
Result<JournalContents> read_contents(sqlite::Reader& reader, const SnapshotStore& snapshots, uint64_t last);

class Compactor {
 public:
  // `newest`: the snapshot that start-up found, 0 for none.
  Compactor(sqlite::ReadPool& pool, SnapshotStore& snapshots, const JournalOptions& options, uint64_t newest);
  ~Compactor();

  // The journal now ends at this fact: a snapshot is begun when one is due. It is due after snapshot_every facts, and
  // never before as many facts as the last one held values: so its cost per fact stays bounded as the state grows.
  void observe(uint64_t last_fact);
  void wait_idle();
  uint64_t deletable() const;
  void fill_status(JournalStatus& status) const;

 private:
  void run();
  // Returns how many values the snapshot holds.
  Result<uint64_t> take_snapshot(uint64_t last_fact);
  // The second newest whole one; 0 if there is none: then no fact may go.
  uint64_t older_whole_snapshot() const;

  sqlite::ReadPool& pool_;
  SnapshotStore& snapshots_;
  const ReplayFunction replay_;
  const uint64_t snapshot_every_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t wanted_ = 0;
  bool busy_ = true;  // until it has looked at the files that start-up found
  bool stopping_ = false;
  uint64_t requested_ = 0;  // the fact of the last request
  uint64_t values_in_last_ = 0;
  uint64_t taken_ = 0;
  uint64_t deletable_ = 0;
  uint64_t failures_ = 0;
  std::string last_error_;
  std::thread thread_;
};

}  // namespace teson
