#include "control/ended_dependencies.h"

namespace teson {

Result<std::map<JobId, command::SubmitJob::Ended>> find_ended(const History& history, std::span<const JobId> ids) {
  std::map<JobId, command::SubmitJob::Ended> ended;
  // A child's end stands in its array's letters, whether it ever had an attempt or not.
  std::vector<JobId> asked;
  for (const JobId& id : ids) asked.push_back(id.parent());
  const auto found = history.find(asked);
  if (!found) return std::unexpected(found.error());
  for (const Job& job : *found) {
    for (const JobId& id : ids) {
      if (id.parent() != job.id) continue;
      if (!id.is_child()) {
        ended[id] = {std::holds_alternative<job_state::Succeeded>(job.state), job.array ? job.array->children : ""};
      } else if (job.array && id.index < std::ssize(job.array->children)) {
        const char letter = job.array->children[static_cast<size_t>(id.index)];
        if (letter != child::kAbsent) ended[id] = {letter == child::kSucceeded, ""};
      }
    }
  }
  return ended;
}

}  // namespace teson
