// Who may enter what of an attempt that runs as another Unix account (docs/decisions/0020).
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/launch_local/local_launcher.h"
#include "attempt_dir/files.h"

namespace teson {
namespace {

Result<OwnedFd> open_folder(const std::string& path, int links) {
  OwnedFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | links));
  if (!folder) return errno_error("cannot open " + path);
  return folder;
}

// Others may go through, and see nothing of what is in it.
Status let_through(const std::string& path) {
  auto folder = open_folder(path, 0);  // the server's own; a part of the data directory may be a link to another disk
  if (!folder) return std::unexpected(folder.error());
  struct stat info{};
  if (::fstat(folder->get(), &info) != 0) return errno_error("cannot look at " + path);
  const mode_t mode = (info.st_mode & 0700) | 0011;
  if ((info.st_mode & 07777) == mode || ::fchmod(folder->get(), mode) == 0) return {};
  return errno_error("cannot change the mode of " + path);
}

// The mode first: at no moment may others read what is the account's already.
Status hand_over(const std::string& path, const UnixAccount& account) {
  auto folder = open_folder(path, O_NOFOLLOW);
  if (!folder) return std::unexpected(folder.error());
  if (::fchmod(folder->get(), 0700) == 0 && ::fchown(folder->get(), account.uid, account.gid) == 0) return {};
  return errno_error(fmt::format("cannot give {} to the account '{}'", path, account.name));
}

}  // namespace

// All but these two stays the server's: the order, the lock, the result, and the folder in which they have their names.
Status LocalLauncher::give_places(const AttemptPaths& paths, const UnixAccount& account) const {
  const std::string job = paths.directory.substr(0, paths.directory.rfind('/'));
  for (const std::string& path : {data_, data_ + "/attempts", job, paths.directory}) {
    if (const Status status = let_through(path); !status) return status;
  }
  if (const Status status = hand_over(paths.file(kWorkDirectory), account); !status) return status;
  return hand_over(paths.checkpoints, account);
}

}  // namespace teson
