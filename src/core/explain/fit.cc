#include "core/explain/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/explain/constants.h"
#include "core/state/state.h"

namespace teson {
namespace {

struct Line {
  const char* name;
  int64_t asked, offered;
};

std::array<Line, 3> lines_of(const Resources& ask, const Resources& size) {
  return {{{"GPU", ask.gpus, size.gpus},
           {"memory", ask.memory_mib, size.memory_mib},
           {"vCPU", ask.milli_vcpus, size.milli_vcpus}}};
}

// How much of the ask the offer cannot give, as the worst resource's missing share. 0: it fits.
double missing_share(const Resources& ask, const Resources& size) {
  double worst = 0;
  for (const Line& line : lines_of(ask, size)) {
    if (line.asked <= line.offered) continue;
    worst = std::max(worst, static_cast<double>(line.asked - line.offered) / static_cast<double>(line.asked));
  }
  return worst;
}

std::string missing_text(const Resources& ask, const Resources& size) {
  std::string out;
  for (const Line& line : lines_of(ask, size)) {
    if (line.asked <= line.offered) continue;
    if (!out.empty()) out += "; ";
    if (std::string_view(line.name) == "memory") {
      out += fmt::format("memory: asked {} MiB, largest {} MiB", line.asked, line.offered);
    } else if (std::string_view(line.name) == "vCPU") {
      out += fmt::format("vCPU: asked {}, largest {}", vcpus_text(line.asked), vcpus_text(line.offered));
    } else {
      out += fmt::format("GPU: asked {}, largest {}", line.asked, line.offered);
    }
  }
  return out;
}

std::optional<std::string> image_problem(const Site& site, const JobSpec& spec) {
  if (runtime_for(site, spec.image)) return std::nullopt;
  return fmt::format(
      "{} - image '{}' has no runtime on this host: map it in the configuration "
      "file (images: [{{pattern: '{}', runtime: process}}] runs the command on the host's own file system), or use the "
      "image 'host'",
      kRequirement, spec.image, spec.image);
}

}  // namespace

Resources instance_size(const Site& site, const InstanceType& type) { return Resources::smaller(type.size, site.host); }

std::optional<Offer> best_offer(const Site& site, const ComputeEnvironment& environment, const Resources& ask) {
  const int64_t max_milli = environment.max_vcpus * 1000;
  if (environment.instance_types.empty()) {
    Resources size = site.host;
    size.milli_vcpus = std::min(size.milli_vcpus, max_milli);
    return size.milli_vcpus > 0 ? std::optional<Offer>({"Fargate", size}) : std::nullopt;
  }
  std::optional<Offer> best;
  double best_share = 2;
  for (const InstanceType& type : environment.instance_types) {
    const Resources size = instance_size(site, type);
    if (size.milli_vcpus > max_milli) continue;
    const double share = missing_share(ask, size);
    if (share < best_share) {
      best_share = share;
      best = Offer{type.name, size};
    }
  }
  return best;
}

bool fits_environment(const Site& site, const ComputeEnvironment& environment, const Resources& ask,
                      int64_t max_milli) {
  if (!ask.fits_in(site.host)) return false;
  const auto& types = environment.instance_types;
  if (types.empty()) return ask.milli_vcpus <= max_milli && max_milli > 0;
  return std::any_of(types.begin(), types.end(), [&](const InstanceType& type) {
    const Resources size = instance_size(site, type);
    return size.milli_vcpus <= max_milli && ask.fits_in(size);
  });
}

bool fits_somewhere(const Site& site, const QueueState& queue, const JobSpec& spec) {
  if (!runtime_for(site, spec.image)) return false;
  return std::ranges::any_of(queue.usable_environments, [&](const ComputeEnvironment* environment) {
    return fits_environment(site, *environment, spec.resources, environment->max_vcpus * 1000);
  });
}

std::optional<std::string> why_never_fits(const Site& site, const QueueState& queue, const JobSpec& spec) {
  if (fits_somewhere(site, queue, spec)) return std::nullopt;
  if (auto problem = image_problem(site, spec)) return problem;
  std::string nearest;
  double nearest_share = 3;
  for (const ComputeEnvironment* environment : queue.usable_environments) {
    const auto offer = best_offer(site, *environment, spec.resources);
    const double share = offer ? missing_share(spec.resources, offer->size) : 2;
    if (share >= nearest_share) continue;
    nearest_share = share;
    nearest = offer ? fmt::format("{} (compute environment '{}', instance type {}: {})",
                                  missing_text(spec.resources, offer->size), environment->name, offer->type,
                                  resources_text(offer->size))
                    : fmt::format("compute environment '{}': maxvCpus {} is smaller than every instance type it lists",
                                  environment->name, environment->max_vcpus);
  }
  if (queue.usable_environments.empty()) {
    return fmt::format("{} - every compute environment of queue '{}' is disabled or gone: enable one", kLargerThanMax,
                       queue.value.name);
  }
  return fmt::format("{} - {}", kLargerThanMax, nearest);
}

}  // namespace teson
