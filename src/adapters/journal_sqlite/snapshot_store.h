// The snapshot files of a data directory: <data>/snapshots/<seq>.json, a head line with a checksum, then the text.
//
// A file is either whole or not there: written beside its name, fsynced, renamed, the directory fsynced. The newest two
// are kept, so that a damaged newest one costs nothing but a longer replay.
// Thread: any, one call at a time (locks inside).
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace teson {

struct SnapshotText {
  uint64_t seq = 0;
  std::string text;
};

class SnapshotStore {
 public:
  explicit SnapshotStore(std::string directory) : directory_(std::move(directory)) {}

  // Makes the directory and removes what a crash left half written.
  Status prepare();
  // Durable when it returns.
  Status write(uint64_t seq, std::string_view text);
  // Removes all others. A file that cannot be removed is only too much.
  void keep_only(uint64_t newest, uint64_t older);
  // Numbers of the files that are there, newest first; not checked.
  Result<std::vector<uint64_t>> list() const;
  // kIo: damaged (checksum, length or head), or unreadable.
  Result<SnapshotText> read(uint64_t seq) const;

  std::string path(uint64_t seq) const;

 private:
  Status write_locked(uint64_t seq, std::string_view text);

  const std::string directory_;
  mutable std::mutex mutex_;
};

}  // namespace teson
