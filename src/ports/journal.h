// The journal: facts in order, durable before anybody is told. And the archive of finished jobs beside it.
//
// Thread: one owner (the loop's thread). Reading the archive is History's business (ports/history.h).
// Failure: append is all or nothing. After a failed append the owner must call load() and start again from it,
// since the operating system may or may not have kept the batch; load() then tells.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "domain/fact.h"
#include "domain/snapshot.h"

namespace teson {

struct JournalContents {
  Snapshot snapshot;          // the newest whole one; empty if none was taken yet
  uint64_t snapshot_seq = 0;  // facts up to this number are in it
  std::vector<Fact> facts;    // those after it, in order
};

class Journal {
 public:
  virtual ~Journal() = default;

  // Commits the facts, and the jobs that they finish to the archive, in one transaction. Returns after it is durable.
  // kUnavailable: no space now; nothing was kept. Anything else: nothing is known but what load() says.
  virtual Status append(std::span<const Fact> facts, std::span<const Job> finished) = 0;

  // All that recovery needs. Cost: proportional to the live state and the facts since the last snapshot.
  virtual Result<JournalContents> load() = 0;
};

}  // namespace teson
