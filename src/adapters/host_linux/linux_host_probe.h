// What this machine has (ports/host_probe.h), read from /proc, /sys, the scheduler and NVIDIA's library.
//
// CPUs: the smaller of the affinity mask and the cgroup quota (v2 cpu.max, v1 cpu.cfs_quota_us) of our own cgroup and
// all its parents. Memory: the smaller of MemTotal and the cgroup limits (v2 memory.max, v1 memory.limit_in_bytes) of
// the same, less a reserve for the system and for teson itself: 5 %, at least 256 MiB. GPUs: libnvidia-ml.so.1 by
// dlopen; its absence is no failure, gpu_note says why there are none. Thread: one at a time.
#pragma once

#include <string>

#include "ports/host_probe.h"

namespace teson {

struct HostProbeOptions {
  std::string root;          // before /proc and /sys: for tests; empty is the machine
  std::string nvml_library;  // empty: $TESON_NVML_LIBRARY, else libnvidia-ml.so.1
  int affinity_cpus = 0;     // 0: ask the scheduler
};

class LinuxHostProbe final : public HostProbe {
 public:
  explicit LinuxHostProbe(HostProbeOptions options = {}) : options_(std::move(options)) {}

  Result<HostFacts> probe() override;
  Result<int64_t> free_bytes(const std::string& path) override;

 private:
  const HostProbeOptions options_;
};

}  // namespace teson
