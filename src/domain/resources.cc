#include "domain/resources.h"

#include <fmt/format.h>

namespace teson {

std::string vcpus_text(int64_t milli_vcpus) {
  if (milli_vcpus % 1000 == 0) return fmt::format("{}", milli_vcpus / 1000);
  std::string text = fmt::format("{}.{:03}", milli_vcpus / 1000, milli_vcpus % 1000);
  while (text.back() == '0') text.pop_back();
  return text;
}

std::string resources_text(const Resources& resources) {
  std::string text = fmt::format("{} vCPU, {} MiB", vcpus_text(resources.milli_vcpus), resources.memory_mib);
  if (resources.gpus > 0) text += fmt::format(", {} GPU", resources.gpus);
  return text;
}

}  // namespace teson
