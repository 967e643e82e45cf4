#include "control/launch_order.h"

#include "base/check.h"

namespace teson {

LaunchOrder make_launch_order(const State& state, const Job& job) {
  const Attempt* attempt = live_attempt(job);
  TESON_CHECK(attempt != nullptr, "a launch order is made for a job without a live attempt");
  const JobSpec& spec = job.spec;
  LaunchOrder order;
  order.id = {job.id, attempt->number};
  order.job_name = spec.name;
  order.runtime = runtime_for(state.site(), spec.image).value_or(RuntimeKind::kProcess);
  order.image = spec.image;
  order.command = spec.command;
  order.environment.reserve(spec.environment.size() + 4);
  order.environment = spec.environment;
  order.environment.emplace_back("AWS_BATCH_JOB_ID", job.id.text());
  order.environment.emplace_back("AWS_BATCH_JOB_ATTEMPT", std::to_string(attempt->number));
  if (spec.array) {
    order.environment.emplace_back("AWS_BATCH_JOB_ARRAY_INDEX", std::to_string(job.id.index));
    order.environment.emplace_back("AWS_BATCH_JOB_ARRAY_SIZE", std::to_string(spec.array->size));
  }
  order.environment.emplace_back("AWS_BATCH_CE_NAME", attempt->environment);
  order.environment.emplace_back("AWS_BATCH_JQ_NAME", spec.queue);
  order.limits = attempt->allocated;
  order.gpus = attempt->gpus;
  order.timeout = spec.attempt_timeout;
  order.grace = spec.grace;
  order.working_directory = spec.working_directory;
  order.log_stream = attempt->log_stream;
  order.after = attempt->behind;
  order.owner = spec.owner;
  return order;
}

}  // namespace teson
