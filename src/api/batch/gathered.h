// Jobs that were asked for by id, of which some are live, some in the history, and some no more than a letter of their
// array: gathered from the loop first and then from the history, so that one that ends meanwhile is not missed.
#pragma once

#include <unordered_map>
#include <vector>

#include "api/batch/job_json.h"
#include "control/controller.h"
#include "ports/history.h"

namespace teson::batch {

struct Gathered {
  std::vector<JobId> asked;  // no id twice
  std::unordered_map<JobId, JobView> found;
  std::unordered_map<JobId, Job> arrays;  // those of children that were asked for
};

// On the loop's thread.
void gather_live(const Controller& controller, Gathered& gathered);
// On a worker; what is not found anywhere is left out.
Status gather_finished(const History& history, Gathered& gathered);

}  // namespace teson::batch
