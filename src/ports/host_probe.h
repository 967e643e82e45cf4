// What this machine has: its usable size, its GPUs, its identity across reboots.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "domain/resources.h"

namespace teson {

struct Gpu {
  int index = 0;
  std::string uuid;
  std::string name;
  int64_t memory_mib = 0;
};

struct HostFacts {
  int64_t milli_vcpus = 0;        // CPUs this process may use (affinity and cgroup quota)
  int64_t total_memory_mib = 0;   // nominal
  int64_t usable_memory_mib = 0;  // less what the system needs and what a cgroup forbids
  std::vector<Gpu> gpus;
  std::string gpu_note;  // why there are none: "libnvidia-ml.so.1 is not installed"
  std::string boot_id;
};

class HostProbe {
 public:
  virtual ~HostProbe() = default;
  virtual Result<HostFacts> probe() = 0;
  // Free bytes for an unprivileged writer on the file system of `path`.
  virtual Result<int64_t> free_bytes(const std::string& path) = 0;
};

}  // namespace teson
