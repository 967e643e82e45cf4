// What the control groups of this process forbid: the tightest of its own group and of every parent, v1 and v2.
//
// A group that cannot be read (it lies outside our cgroup namespace, or nothing is mounted) limits nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace teson {

struct CgroupLimits {
  std::optional<int64_t> milli_cpus;
  std::optional<int64_t> memory_bytes;
};

// `root` comes before /proc and /sys/fs/cgroup.
CgroupLimits read_cgroup_limits(const std::string& root);

}  // namespace teson
