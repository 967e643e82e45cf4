// Work directories of attempts whose end is durable, removed as KeepWork says.
#include <filesystem>

#include "adapters/launch_local/attempt_files.h"
#include "adapters/launch_local/local_launcher.h"

namespace teson {

void LocalLauncher::prune() {
  std::vector<AttemptId> ids;
  {
    const std::lock_guard guard(mutex_);
    ids.swap(to_prune_);
  }
  for (const AttemptId& id : ids) {
    const AttemptPaths paths = attempt_paths(data_, id);
    const DirectoryState state = read_directory_state(paths);
    if (std::holds_alternative<directory_state::Running>(state)) continue;
    const auto* ended = std::get_if<directory_state::Ended>(&state);
    const bool succeeded = ended && ended->result.end.cause == EndCause::kExited && ended->result.end.exit_code == 0;
    if (options_.keep_work == KeepWork::kFailed && !succeeded) continue;
    std::error_code ignored;
    std::filesystem::remove_all(paths.file(kWorkDirectory), ignored);
  }
}

}  // namespace teson
