#include "base/descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <optional>

namespace teson {
namespace {

// More are of no use, and each process that goes through all numbers would take its time.
constexpr rlim_t kMost = 65'536;
std::optional<rlimit> g_before;

}  // namespace

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlimit before = limit;
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, kMost));
  if (limit.rlim_cur != before.rlim_cur && ::setrlimit(RLIMIT_NOFILE, &limit) == 0) g_before = before;
}

uint64_t descriptor_limit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

void restore_descriptor_limit(pid_t child) {
  if (g_before) ::prlimit(child, RLIMIT_NOFILE, &*g_before, nullptr);
}

}  // namespace teson
