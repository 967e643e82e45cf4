#include "domain/scheduling_policy.h"

namespace teson {
namespace {

constexpr int64_t kDefaultDecaySeconds = 600;

bool means(std::string_view entry, std::string_view identifier) {
  if (!entry.ends_with('*')) return entry == identifier;
  return identifier.starts_with(entry.substr(0, entry.size() - 1));
}

}  // namespace

int64_t decay_seconds_of(const SchedulingPolicy& policy) {
  return policy.decay_seconds > 0 ? policy.decay_seconds : kDefaultDecaySeconds;
}

int64_t weight_e4_of(const SchedulingPolicy& policy, std::string_view identifier) {
  for (const ShareWeight& share : policy.shares) {
    if (means(share.identifier, identifier)) return share.weight_e4;
  }
  return ShareWeight{}.weight_e4;
}

bool overlap(std::string_view a, std::string_view b) {
  if (!a.ends_with('*')) return means(b, a);
  if (!b.ends_with('*')) return means(a, b);
  const std::string_view x = a.substr(0, a.size() - 1);
  const std::string_view y = b.substr(0, b.size() - 1);
  return x.starts_with(y) || y.starts_with(x);
}

}  // namespace teson
