#include "api/batch/gathered.h"

#include <unordered_set>

#include "base/try.h"

namespace teson::batch {

void gather_live(const Controller& controller, Gathered& gathered) {
  const State& state = controller.state();
  for (const JobId& id : gathered.asked) {
    if (const Job* job = state.job(id)) {
      gathered.found.emplace(id, JobView{*job, controller.waiting_reason(*job)});
      continue;
    }
    const Job* array = id.is_child() ? state.job(id.parent()) : nullptr;
    if (!array) continue;
    if (auto child = unbegun_child(*array, id.index)) {
      std::string waiting = controller.waiting_reason(*child);
      gathered.found.emplace(id, JobView{std::move(*child), std::move(waiting)});
    } else if (!gathered.arrays.contains(array->id)) {
      gathered.arrays.emplace(array->id, *array);
    }
  }
}

Status gather_finished(const History& history, Gathered& gathered) {
  std::vector<JobId> missing;
  std::unordered_set<JobId> wanted;
  for (const JobId& id : gathered.asked) {
    if (gathered.found.contains(id)) continue;
    if (wanted.insert(id).second) missing.push_back(id);
    const JobId parent = id.parent();
    if (!gathered.arrays.contains(parent) && wanted.insert(parent).second) missing.push_back(parent);
  }
  if (missing.empty()) return {};
  TESON_TRY(std::vector<Job> jobs, history.find(missing));
  std::unordered_map<JobId, Job> children;
  for (Job& job : jobs) {
    const JobId id = job.id;
    if (id.is_child()) {
      children.emplace(id, std::move(job));
    } else {
      if (job.array) gathered.arrays.emplace(id, job);
      gathered.found.emplace(id, JobView{std::move(job), {}});
    }
  }
  for (const JobId& id : missing) {
    const auto array = gathered.arrays.find(id.parent());
    if (!id.is_child() || array == gathered.arrays.end()) continue;
    if (const auto child = children.find(id); child != children.end()) {
      child->second.spec = child_spec(array->second.spec);
      gathered.found.emplace(id, JobView{std::move(child->second), {}});
    } else if (auto unbegun = unbegun_child(array->second, id.index)) {
      gathered.found.emplace(id, JobView{std::move(*unbegun), {}});
    }
  }
  return {};
}

}  // namespace teson::batch
