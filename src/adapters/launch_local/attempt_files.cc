#include "adapters/launch_local/attempt_files.h"

#include <fmt/format.h>

#include "attempt_dir/files.h"

namespace teson {

using namespace directory_state;

static constexpr const char* kRebooted = "the host was rebooted";

static bool is_of_another_boot(const LockRecord& record) { return record.boot_id != current_boot_id(); }

DirectoryState read_directory_state(const AttemptPaths& paths) {
  // While its agent lives an attempt runs, whatever else the directory holds: the job can write there too, and an end
  // that is believed too early would start the job beside itself. An agent leaves its result before it lets go of the
  // lock.
  const auto lock = open_lock(paths.file(kLockFile), true);
  // Without a descriptor to look with nothing is known, and then it runs: a later look will tell.
  if (!lock && lock.error().kind == ErrorKind::kUnavailable) return Running{};
  if (lock && !try_lock(*lock)) {
    Running running{.record = read_lock_record(lock->get()), .started = std::nullopt, .lock = identity_of(lock->get())};
    if (const auto events = read_file(paths.events())) running.started = started_in(*events);
    return running;
  }
  const auto text = read_file(paths.result());
  if (!text && text.error().kind == ErrorKind::kUnavailable) return Running{};
  if (text) {
    auto result = decode_result(*text, paths.result());
    if (result) return Ended{std::move(*result)};
    // The host went down before it had written the result to its disk.
    if (auto record = lock ? read_lock_record(lock->get()) : std::nullopt; record && is_of_another_boot(*record)) {
      return Orphaned{std::move(*record), kRebooted};
    }
    return Spoilt{result.error().message};
  }
  if (!lock) return Absent{};
  auto record = read_lock_record(lock->get());
  if (!record) return Absent{};
  const std::string detail =
      is_of_another_boot(*record) ? kRebooted : fmt::format("agent (pid {}) is gone", record->pid);
  return Orphaned{std::move(*record), detail};
}

std::vector<std::string> own_cgroups(const LockRecord& record, const AttemptId& id) {
  const std::string ending = fmt::format("/teson/{}-{}", id.job.directory_name(), id.number);
  std::vector<std::string> own;
  for (const std::string& directory : record.cgroups) {
    if (directory.starts_with("/") && directory.ends_with(ending)) own.push_back(directory);
  }
  return own;
}

}  // namespace teson
