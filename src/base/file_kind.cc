#include "base/file_kind.h"

#include <sys/stat.h>

namespace teson {

std::string_view file_kind(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "a regular file";
    case S_IFDIR:
      return "a directory";
    case S_IFIFO:
      return "a FIFO";
    case S_IFLNK:
      return "a symbolic link";
    case S_IFSOCK:
      return "a socket";
    default:
      return "a device";
  }
}

std::string_view file_kind_at(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 ? file_kind(info.st_mode) : std::string_view();
}

}  // namespace teson
