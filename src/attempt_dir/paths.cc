#include "attempt_dir/paths.h"

namespace teson {

AttemptPaths attempt_paths(const std::string& data_directory, const AttemptId& id) {
  const std::string job = data_directory + "/attempts/" + id.job.directory_name();
  return {.directory = job + "/" + std::to_string(id.number), .checkpoints = job + "/checkpoints"};
}

std::string attempt_marker(const AttemptId& id) { return std::string(kAttemptIdVariable) + "=" + id.text(); }

}  // namespace teson
