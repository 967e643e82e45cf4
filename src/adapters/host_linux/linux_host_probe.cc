#include "adapters/host_linux/linux_host_probe.h"

#include <sched.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "adapters/host_linux/cgroup_limits.h"
#include "adapters/host_linux/nvml.h"
#include "adapters/host_linux/text_file.h"

namespace teson {
namespace {

constexpr int64_t kMib = int64_t{1} << 20;
constexpr int64_t kLeastReserve = 256 * kMib;
constexpr int64_t kReserveDivisor = 20;  // 5 %

// Grows the mask until the kernel accepts it: machines may have more CPUs than cpu_set_t holds.
Result<int> scheduler_cpus() {
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 4) {
    cpu_set_t* const mask = CPU_ALLOC(static_cast<size_t>(cpus));
    if (mask == nullptr) return fail(ErrorKind::kIo, "no memory for a CPU mask");
    const size_t size = CPU_ALLOC_SIZE(static_cast<size_t>(cpus));
    const int failed = sched_getaffinity(0, size, mask) == 0 ? 0 : errno;
    const int count = failed == 0 ? CPU_COUNT_S(size, mask) : 0;
    CPU_FREE(mask);
    if (failed == 0) return count;
    if (failed != EINVAL) return std::unexpected(make_errno_error("sched_getaffinity", failed));
  }
  return fail(ErrorKind::kIo, "sched_getaffinity refuses every size of mask");
}

Result<int64_t> total_memory(const std::string& root) {
  const std::string path = root + "/proc/meminfo";
  auto text = read_text_file(path);
  if (!text) return std::unexpected(text.error());
  constexpr std::string_view kKey = "MemTotal:";
  const size_t key = text->find(kKey);
  if (key != std::string::npos) {
    const size_t digits = text->find_first_not_of(" \t", key + kKey.size());
    int64_t kib = 0;
    if (digits != std::string::npos &&
        std::from_chars(text->data() + digits, text->data() + text->size(), kib).ec == std::errc() && kib > 0) {
      return kib * 1024;
    }
  }
  return fail(ErrorKind::kIo, path + " has no MemTotal: is /proc mounted?");
}

std::string nvml_library(const HostProbeOptions& options) {
  if (!options.nvml_library.empty()) return options.nvml_library;
  const char* const chosen = std::getenv("TESON_NVML_LIBRARY");
  return chosen != nullptr && *chosen != '\0' ? chosen : "libnvidia-ml.so.1";
}

}  // namespace

Result<HostFacts> LinuxHostProbe::probe() {
  HostFacts facts;
  auto cpus = options_.affinity_cpus > 0 ? Result<int>(options_.affinity_cpus) : scheduler_cpus();
  if (!cpus) return std::unexpected(cpus.error());
  auto memory = total_memory(options_.root);
  if (!memory) return std::unexpected(memory.error());
  auto boot_id = read_text_file(options_.root + "/proc/sys/kernel/random/boot_id");
  if (!boot_id) return std::unexpected(boot_id.error());

  const CgroupLimits limits = read_cgroup_limits(options_.root);
  facts.milli_vcpus = int64_t{*cpus} * 1000;
  if (limits.milli_cpus) facts.milli_vcpus = std::min(facts.milli_vcpus, *limits.milli_cpus);
  facts.total_memory_mib = *memory / kMib;
  const int64_t allowed = limits.memory_bytes ? std::min(*memory, *limits.memory_bytes) : *memory;
  const int64_t reserve = std::max(kLeastReserve, allowed / kReserveDivisor);
  facts.usable_memory_mib = std::max(int64_t{0}, allowed - reserve) / kMib;
  facts.boot_id = std::string(trimmed(*boot_id));
  GpuFindings gpus = find_gpus(nvml_library(options_));
  facts.gpus = std::move(gpus.gpus);
  facts.gpu_note = std::move(gpus.note);
  return facts;
}

Result<int64_t> LinuxHostProbe::free_bytes(const std::string& path) {
  struct statvfs info;
  if (statvfs(path.c_str(), &info) != 0) return errno_error("the free space of " + path);
  return static_cast<int64_t>(info.f_bavail) * static_cast<int64_t>(info.f_frsize);
}

}  // namespace teson
