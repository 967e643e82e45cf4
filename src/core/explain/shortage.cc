#include "core/explain/shortage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/explain/fit.h"
#include "core/scheduler/consumables.h"

namespace teson {
namespace {

constexpr size_t kShown = 3;

struct Kind {
  const char* name;
  int64_t Resources::* amount;
};
// The scarcest first: what is told of is held by the fewest.
constexpr std::array kKinds = {Kind{"GPU", &Resources::gpus}, Kind{"memory", &Resources::memory_mib},
                               Kind{"vCPU", &Resources::milli_vcpus}};

std::string plain(const Kind& kind, int64_t amount) {
  return kind.amount == &Resources::milli_vcpus ? vcpus_text(amount) : fmt::format("{}", amount);
}

std::string with_unit(const Kind& kind, int64_t amount) {
  return plain(kind, amount) + (kind.amount == &Resources::memory_mib ? " MiB"
                                : kind.amount == &Resources::gpus     ? " GPU"
                                                                      : " vCPU");
}

struct Held {
  int64_t amount;
  const Job* job;
};

template <class Text>
void name_largest(std::vector<Held> held, Text amount_text, Shortage& out) {
  out.holders = static_cast<int>(held.size());
  const size_t shown = std::min(held.size(), kShown);
  std::partial_sort(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(shown), held.end(),
                    [](const Held& a, const Held& b) {
                      return a.amount != b.amount ? a.amount > b.amount : a.job->order < b.job->order;
                    });
  for (size_t i = 0; i < shown; ++i) {
    out.largest.push_back({held[i].job, live_attempt(*held[i].job), amount_text(held[i].amount)});
  }
}

// Those of `environment`, or of the whole host where that is empty.
void name_holders(const State& state, const Kind& kind, const std::string& environment, Shortage& out) {
  std::vector<Held> held;
  for (const JobId& id : state.holders()) {
    const Job& job = *state.job(id);
    const Attempt& attempt = *live_attempt(job);
    const int64_t amount = attempt.allocated.*kind.amount;
    if (amount > 0 && (environment.empty() || attempt.environment == environment)) held.push_back({amount, &job});
  }
  name_largest(std::move(held), [&kind](int64_t amount) { return with_unit(kind, amount); }, out);
}

// The host has room, but no environment may start an instance, nor has one with a hole that is large enough.
Shortage environment_shortage(const State& state, const QueueState& queue, const Resources& ask) {
  Shortage out;
  for (const ComputeEnvironment* environment : queue.usable_environments) {
    const int64_t max_milli = environment->max_vcpus * 1000;
    if (!fits_environment(state.site(), *environment, ask, max_milli)) continue;
    int64_t needed = ask.milli_vcpus;
    std::string type = "instance";
    for (const InstanceType& candidate : environment->instance_types) {
      const Resources size = instance_size(state.site(), candidate);
      if (size.milli_vcpus > max_milli || !ask.fits_in(size)) continue;
      needed = size.milli_vcpus;
      type = candidate.name;
      break;
    }
    out.text = fmt::format("maxvCpus of compute environment '{}' is {}, {} in use; a new {} needs {}",
                           environment->name, environment->max_vcpus,
                           vcpus_text(state.instance_vcpus_of(environment->name)), type, vcpus_text(needed));
    name_holders(state, kKinds.back(), environment->name, out);
    return out;
  }
  return out;
}

}  // namespace

Shortage shortage_of(const State& state, const QueueState& queue, const Resources& ask) {
  Resources free = state.host_free();
  free.gpus = std::min<int64_t>(free.gpus, std::ssize(state.free_gpus(ask.gpus)));
  Shortage out;
  const Kind* scarce = nullptr;
  for (const Kind& kind : kKinds) {
    if (ask.*kind.amount <= free.*kind.amount) continue;
    if (!scarce) scarce = &kind;
    const int64_t there = std::max<int64_t>(free.*kind.amount, 0);
    const char* unit = kind.amount == &Resources::memory_mib ? " MiB" : "";
    out.text += fmt::format("{}{}: asked {}{}, free {} of {}{}", out.text.empty() ? "" : "; ", kind.name,
                            plain(kind, ask.*kind.amount), unit, plain(kind, there),
                            plain(kind, state.site().host.*kind.amount), unit);
  }
  if (!scarce) return environment_shortage(state, queue, ask);
  name_holders(state, *scarce, {}, out);
  return out;
}

Shortage consumable_shortage(const State& state, const JobSpec& spec) {
  Shortage out;
  out.text = consumables_short(state, spec);
  if (out.text.empty()) return out;
  const auto scarce = std::ranges::find_if(spec.consumables, [&](const ConsumableAsk& ask) {
    return ask.quantity > state.consumables().at(ask.name).available();
  });
  std::vector<Held> held;
  for (const JobId& id : state.holders()) {
    const Job& job = *state.job(id);
    const auto had = std::ranges::find(job.spec.consumables, scarce->name, &ConsumableAsk::name);
    if (had != job.spec.consumables.end()) held.push_back({had->quantity, &job});
  }
  name_largest(std::move(held), [&](int64_t amount) { return fmt::format("{} of '{}'", amount, scarce->name); }, out);
  return out;
}

std::optional<Instant> ends_by(const Job& job, const Attempt& attempt) {
  if (!attempt.started || !job.spec.attempt_timeout) return std::nullopt;
  return *attempt.started + *job.spec.attempt_timeout + job.spec.grace;
}

}  // namespace teson
