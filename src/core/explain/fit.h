// Can this job ever be placed, and if not, which resource is short, by how much, and what is the nearest offer?
#pragma once

#include <optional>
#include <string>

#include "domain/environment.h"
#include "domain/job.h"

namespace teson {

struct QueueState;

// What one instance of the type really gives on this host.
Resources instance_size(const Site& site, const InstanceType& type);

// The largest instance that the environment can ever start for this ask: its best candidate, cut to the host and to
// maxvCpus. nullopt: not even one instance may start (maxvCpus too small, or no types).
struct Offer {
  std::string type;
  Resources size;
};
std::optional<Offer> best_offer(const Site& site, const ComputeEnvironment& environment, const Resources& ask);

// Whether one of its instances could ever hold the ask, of at most so many thousandths of a vCPU.
bool fits_environment(const Site& site, const ComputeEnvironment& environment, const Resources& ask,
                      int64_t max_milli_vcpus);

// May the job run on this host's runtimes, and does it fit at least one enabled environment of the queue? Cheap: asked
// of every runnable job whenever one of these changes.
bool fits_somewhere(const Site& site, const QueueState& queue, const JobSpec& spec);

// The same in words. nullopt: it fits somewhere. Otherwise an AWS reason constant, a dash, and the figures:
// "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE - memory: asked 32000 MiB, ...".
std::optional<std::string> why_never_fits(const Site& site, const QueueState& queue, const JobSpec& spec);

}  // namespace teson
