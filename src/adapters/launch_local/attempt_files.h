// What an attempt's directory says, read without side effects but for a try at its lock. Blocking, any thread.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "attempt_dir/codec.h"
#include "attempt_dir/lock.h"
#include "attempt_dir/paths.h"

namespace teson {

namespace directory_state {
struct Absent {};  // no directory, or no agent ever began: nothing was started
struct Running {
  std::optional<LockRecord> record;  // absent for the instant between spawn and the agent's first step
  std::optional<Instant> started;
  FileIdentity lock;
};
struct Ended {
  AttemptResult result;
};
// The lock is free and there is no result.
struct Orphaned {
  LockRecord record;
  std::string detail;
};
// There is a result that cannot be read: the attempt is over, but how is lost.
struct Spoilt {
  std::string detail;
};
}  // namespace directory_state

using DirectoryState = std::variant<directory_state::Absent, directory_state::Running, directory_state::Ended,
                                    directory_state::Orphaned, directory_state::Spoilt>;

DirectoryState read_directory_state(const AttemptPaths& paths);

// The groups in the record that are named after this attempt: nothing else is ever killed or removed.
std::vector<std::string> own_cgroups(const LockRecord& record, const AttemptId& id);

}  // namespace teson
