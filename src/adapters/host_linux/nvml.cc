#include "adapters/host_linux/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <memory>

namespace teson {
namespace {

using Device = void*;
struct Memory {
  unsigned long long total = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};
constexpr int kSuccess = 0;
constexpr unsigned kUuidLength = 96;  // NVML_DEVICE_UUID_V2_BUFFER_SIZE
constexpr unsigned kNameLength = 96;  // NVML_DEVICE_NAME_V2_BUFFER_SIZE

struct Functions {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_text)(int) = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, Device*) = nullptr;
  int (*uuid)(Device, char*, unsigned) = nullptr;
  int (*name)(Device, char*, unsigned) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;
};

// Returns the name of the function that is missing; empty when all are there.
std::string resolve(void* library, Functions& functions) {
  std::string missing;
  const auto find = [&]<class F>(const char* symbol, F& function) {
    function = reinterpret_cast<F>(dlsym(library, symbol));
    if (function == nullptr && missing.empty()) missing = symbol;
  };
  find("nvmlInit_v2", functions.init);
  find("nvmlShutdown", functions.shutdown);
  find("nvmlErrorString", functions.error_text);
  find("nvmlDeviceGetCount_v2", functions.count);
  find("nvmlDeviceGetHandleByIndex_v2", functions.handle);
  find("nvmlDeviceGetUUID", functions.uuid);
  find("nvmlDeviceGetName", functions.name);
  find("nvmlDeviceGetMemoryInfo", functions.memory);
  return missing;
}

// The code of the first call that failed.
int describe(const Functions& nvml, unsigned index, Gpu& gpu) {
  Device device = nullptr;
  if (const int code = nvml.handle(index, &device); code != kSuccess) return code;
  char uuid[kUuidLength] = {};
  if (const int code = nvml.uuid(device, uuid, kUuidLength); code != kSuccess) return code;
  char name[kNameLength] = {};
  if (const int code = nvml.name(device, name, kNameLength); code != kSuccess) return code;
  Memory memory;
  if (const int code = nvml.memory(device, &memory); code != kSuccess) return code;
  gpu = {static_cast<int>(index), uuid, name, static_cast<int64_t>(memory.total >> 20)};
  return kSuccess;
}

GpuFindings list_gpus(const Functions& nvml) {
  GpuFindings findings;
  unsigned count = 0;
  if (const int code = nvml.count(&count); code != kSuccess) {
    findings.note = fmt::format("the NVIDIA driver cannot count its GPUs: {}", nvml.error_text(code));
    return findings;
  }
  for (unsigned index = 0; index < count; ++index) {
    Gpu gpu;
    if (const int code = describe(nvml, index, gpu); code != kSuccess) {
      findings.gpus.clear();
      findings.note = fmt::format("the NVIDIA driver cannot describe GPU {}: {}", index, nvml.error_text(code));
      return findings;
    }
    findings.gpus.push_back(std::move(gpu));
  }
  if (findings.gpus.empty()) findings.note = "the NVIDIA driver knows of no GPU";
  return findings;
}

}  // namespace

GpuFindings find_gpus(const std::string& library) {
  const std::unique_ptr<void, int (*)(void*)> handle(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL), dlclose);
  if (!handle) {
    const std::string reason = dlerror();
    const bool absent = reason.find("No such file") != std::string::npos;
    return {{}, absent ? library + " is not installed" : fmt::format("{} cannot be loaded: {}", library, reason)};
  }
  Functions nvml;
  if (const std::string missing = resolve(handle.get(), nvml); !missing.empty()) {
    return {{}, fmt::format("{} has no function {}: the NVIDIA driver is too old", library, missing)};
  }
  if (const int code = nvml.init(); code != kSuccess) {
    return {{}, fmt::format("the NVIDIA driver does not start: {}", nvml.error_text(code))};
  }
  GpuFindings findings = list_gpus(nvml);
  nvml.shutdown();
  return findings;
}

}  // namespace teson
