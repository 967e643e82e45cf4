#include "agent/bus_error.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

namespace teson {

// [mmap(2), ERRORS: SIGBUS] A page of a mapping that its file cannot give: the file system was full (shared memory is a
// file system), or the file was cut short. Loaders of several processes meet it where /dev/shm is small.
std::string bus_error_text() {
  struct statvfs shm{};
  std::string figures;
  if (::statvfs("/dev/shm", &shm) == 0) {
    const auto mib = [&](fsblkcnt_t blocks) { return (blocks * shm.f_frsize) >> 20; };
    figures = fmt::format(" ({} of {} MiB free there now)", mib(shm.f_bavail), mib(shm.f_blocks));
  }
  return fmt::format("bus error: /dev/shm{} or the disk of a mapped file was full, or the file was cut short", figures);
}

}  // namespace teson
