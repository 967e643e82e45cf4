// Jobs as DescribeJobs and ListJobs return them. Pure; any thread; may be heavy, so not on the loop's.
#pragma once

#include <string>

#include "api/batch/arn.h"
#include "api/batch/validate.h"
#include "domain/job.h"

namespace teson::batch {

// A job as copied out of the state, or out of the history.
struct JobView {
  Job job;
  std::string waiting;  // why it waits now; empty: it does not
};

// JobDetail.
Json job_detail(const JobView& view, const Arns& arns);
// JobSummary.
Json job_summary(const JobView& view, const Arns& arns);

}  // namespace teson::batch
