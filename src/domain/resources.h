// What a job asks for and what an instance or host offers.
#pragma once

#include <cstdint>
#include <string>

namespace teson {

struct Resources {
  int64_t milli_vcpus = 0;  // thousandths of a vCPU; 1 vCPU is one logical CPU of the host
  int64_t memory_mib = 0;
  int64_t gpus = 0;

  constexpr bool operator==(const Resources&) const = default;
  constexpr bool fits_in(const Resources& room) const {
    return milli_vcpus <= room.milli_vcpus && memory_mib <= room.memory_mib && gpus <= room.gpus;
  }
  constexpr Resources operator+(const Resources& o) const {
    return {milli_vcpus + o.milli_vcpus, memory_mib + o.memory_mib, gpus + o.gpus};
  }
  constexpr Resources operator-(const Resources& o) const {
    return {milli_vcpus - o.milli_vcpus, memory_mib - o.memory_mib, gpus - o.gpus};
  }
  constexpr bool any_negative() const { return milli_vcpus < 0 || memory_mib < 0 || gpus < 0; }

  // The smaller of each: an instance type larger than the host is the host.
  static constexpr Resources smaller(const Resources& a, const Resources& b) {
    return {a.milli_vcpus < b.milli_vcpus ? a.milli_vcpus : b.milli_vcpus,
            a.memory_mib < b.memory_mib ? a.memory_mib : b.memory_mib, a.gpus < b.gpus ? a.gpus : b.gpus};
  }
};

// "0.25" for 250, "4" for 4000: at most three decimals, none that are zero.
std::string vcpus_text(int64_t milli_vcpus);
// "2 vCPU, 4096 MiB" and ", 1 GPU" where asked.
std::string resources_text(const Resources& resources);

}  // namespace teson
