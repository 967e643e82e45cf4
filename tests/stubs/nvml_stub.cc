// Stands in for libnvidia-ml.so.1 in tests: the few functions that the probe calls, with two GPUs to tell of.
#include <cstdio>
#include <cstring>

extern "C" {

struct nvmlMemory_t {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

static int g_devices[2];

int nvmlInit_v2() {
#ifdef STUB_INIT_FAILS
  return 9;  // NVML_ERROR_DRIVER_NOT_LOADED
#else
  return 0;
#endif
}

int nvmlShutdown() { return 0; }

const char* nvmlErrorString(int code) { return code == 9 ? "Driver Not Loaded" : "Unknown Error"; }

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index > 1) return 2;
  *device = &g_devices[index];
  return 0;
}

int nvmlDeviceGetUUID(void* device, char* uuid, unsigned length) {
  const int index = static_cast<int>(static_cast<int*>(device) - g_devices);
  std::snprintf(uuid, length, "GPU-00000000-0000-0000-0000-00000000000%d", index);
  return 0;
}

int nvmlDeviceGetName(void*, char* name, unsigned length) {
  std::snprintf(name, length, "Stub Accelerator");
  return 0;
}

#ifndef STUB_LACKS_A_SYMBOL
int nvmlDeviceGetMemoryInfo(void* device, nvmlMemory_t* memory) {
  std::memset(memory, 0, sizeof *memory);
  memory->total = device == &g_devices[0] ? 16ULL << 30 : 24ULL << 30;
  return 0;
}
#endif
}
