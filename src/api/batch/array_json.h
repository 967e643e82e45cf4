// Array jobs on the wire: arrayProperties, the types of dependsOn, statusSummary. Pure; any thread.
#pragma once

#include <optional>
#include <vector>

#include "api/batch/arn.h"
#include "api/batch/validate.h"
#include "domain/job.h"

namespace teson::batch {

// arrayProperties.size; nullopt: no array job.
Result<std::optional<int>> parse_array_size(const JsonValue& body);

struct Dependencies {
  std::vector<JobId> jobs;    // no id twice
  std::vector<JobId> n_to_n;  // no id twice
  bool sequential = false;
};
// dependsOn. What only an array may have is refused where there is none.
Result<Dependencies> parse_dependencies(const JsonValue& body, const Arns& arns, bool is_array);

// The children that failed in `ended` become the only ones of `rerun`, under the same indexes.
Status choose_failed(const Job& ended, ArraySpec& rerun);

Json depends_on_json(const JobSpec& spec);
// Of an array {size, statusSummary}, of a child {size, index}; null for other jobs.
Json array_properties_json(const Job& job);

}  // namespace teson::batch
