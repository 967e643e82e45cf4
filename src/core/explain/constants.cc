#include "core/explain/constants.h"

#include "core/explain/fit.h"
#include "core/scheduler/fair_share.h"

namespace teson {

std::string_view constant_of_held(const State& state, const QueueState& queue, const JobSpec& spec) {
  if (!runtime_for(state.site(), spec.image)) return kRequirement;
  return fits_somewhere(state.site(), queue, spec) ? kRequirement : kLargerThanMax;
}

std::string_view constant_of_head(const State& state, const QueueState& queue, const JobSpec& spec) {
  return kept_by_reservation(state, queue, spec) ? std::string_view() : kInsufficientCapacity;
}

}  // namespace teson
