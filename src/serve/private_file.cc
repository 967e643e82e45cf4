#include "serve/private_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "base/owned_fd.h"

namespace teson {

Result<std::optional<std::string>> read_private_file(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return std::nullopt;
    return errno_error("stat " + path);
  }
  if ((info.st_mode & 077) != 0) {
    return fail(ErrorKind::kDenied,
                fmt::format("{} may be read by others (mode {:04o}): chmod 600 it, and replace its keys if "
                            "somebody may have seen them",
                            path, info.st_mode & 07777));
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file) return errno_error("open " + path);
  text << file.rdbuf();
  return std::move(text).str();
}

Status write_private_file(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".new";
  unlink(temporary.c_str());
  OwnedFd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) return errno_error("create " + temporary);
  for (size_t done = 0; done < text.size();) {
    const ssize_t wrote = write(fd.get(), text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return errno_error("write " + temporary);
    done += static_cast<size_t>(wrote);
  }
  if (fsync(fd.get()) != 0) return errno_error("fsync " + temporary);
  if (rename(temporary.c_str(), path.c_str()) != 0) return errno_error("rename " + temporary);
  const std::string directory = path.substr(0, path.rfind('/'));
  const OwnedFd parent(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent || fsync(parent.get()) != 0) return errno_error("fsync " + directory);
  return {};
}

}  // namespace teson
