// GPUs by NVIDIA's management library, loaded at run time: machines without it are the rule.
//
// The functions and structs are declared here from the library's public interface (NVML API reference), since its
// header is no dependency of ours.
#pragma once

#include <string>
#include <vector>

#include "ports/host_probe.h"

namespace teson {

struct GpuFindings {
  std::vector<Gpu> gpus;
  std::string note;  // why there are none; empty when there are some
};

// All or none: a GPU that cannot be described makes the whole finding empty, for its index could not be trusted.
GpuFindings find_gpus(const std::string& library);

}  // namespace teson
