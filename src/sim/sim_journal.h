// A journal in memory that refuses, fails with and without keeping, is unreadable for a while, and folds facts into
// snapshots as it likes. With the archive of finished jobs and log streams beside it.
//
// Thread: one; the archive is read from any. Outlives the control plane's crashes. Passes the contract suites of
// ports/journal.h and ports/history.h.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "domain/environment.h"
#include "ports/history.h"
#include "ports/journal.h"
#include "sim/faults.h"
#include "sim/timeline.h"

namespace teson::sim {

class SimJournal final : public Journal, public History {
 public:
  // Called with each batch that is durable now, whatever append() will say about it.
  using Observer = std::function<void(std::span<const Fact>, std::span<const Job>)>;

  struct Surroundings {
    const Timeline& timeline;
    const Faults& faults;
    const Sabotage& sabotage;
    CrashPoints& crash_points;
    Coverage& coverage;
  };

  SimJournal(Site site, Prng prng, Surroundings around);

  void on_kept(Observer observer) { observer_ = std::move(observer); }
  // Facts and snapshots go through their JSON form on each load.
  void through_json(bool on) { through_json_ = on; }
  // False after a failure that leaves the caller in doubt: the last batch may have been kept.
  bool last_failure_kept_nothing() const { return last_failure_kept_nothing_; }
  size_t archived() const;

  Status append(std::span<const Fact> facts, std::span<const Job> finished) override;
  Result<JournalContents> load() override;

  Result<std::vector<Job>> find(std::span<const JobId> ids) const override;
  Result<std::vector<Job>> list(const HistoryQuery& query) const override;
  Result<std::optional<LogStreamRecord>> find_stream(const std::string& name) const override;
  Result<std::vector<LogStreamRecord>> list_streams(const std::string& prefix, const std::string& after,
                                                    int limit) const override;

 private:
  void keep(std::span<const Fact> facts, std::span<const Job> finished);
  void fold();
  JournalContents as_read_back() const;

  Site site_;
  Prng prng_;
  Surroundings around_;
  Observer observer_;
  bool through_json_ = false;
  bool last_failure_kept_nothing_ = true;
  Instant unreadable_until_;

  Snapshot snapshot_;
  uint64_t snapshot_seq_ = 0;
  std::vector<Fact> facts_;         // after the snapshot
  std::vector<size_t> batch_ends_;  // indexes into facts_: where a snapshot may be taken
  mutable std::mutex mutex_;        // over what follows: readers of history come from other threads
  std::map<uint64_t, Job> archive_;
  std::unordered_map<JobId, uint64_t> archived_order_;
  std::unordered_map<std::string, LogStreamRecord> streams_;
};

}  // namespace teson::sim
