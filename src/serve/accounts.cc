#include "serve/accounts.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "base/try.h"

namespace teson {
namespace {

constexpr uid_t kFirstOfPeople = 1000;
constexpr uid_t kNobody = 65534;
constexpr size_t kLargestEntry = 1 << 20;
constexpr int kMostGroups = 65536;  // NGROUPS_MAX

Result<std::vector<uint32_t>> groups_of(const passwd& entry) {
  int count = 64;
  std::vector<gid_t> groups(static_cast<size_t>(count));
  while (getgrouplist(entry.pw_name, entry.pw_gid, groups.data(), &count) < 0) {
    if (count <= static_cast<int>(groups.size()) || count > kMostGroups) {
      return fail(ErrorKind::kUnavailable, fmt::format("the groups of account '{}' cannot be had", entry.pw_name));
    }
    groups.resize(static_cast<size_t>(count));
  }
  return std::vector<uint32_t>(groups.begin(), groups.begin() + count);
}

}  // namespace

Accounts::Accounts(AccountSettings settings, const users::UserRegistry& registry)
    : settings_(std::move(settings)), registry_(registry), root_(geteuid() == 0) {}

Result<UnixAccount> Accounts::find(const std::string& account) const {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> room(16384);
  int error = 0;
  while ((error = getpwnam_r(account.c_str(), &entry, room.data(), room.size(), &found)) == ERANGE &&
         room.size() < kLargestEntry) {
    room.resize(room.size() * 2);
  }
  if (found == nullptr && error != 0 && error != ENOENT) {
    return fail(ErrorKind::kUnavailable, fmt::format("Unix account '{}' cannot be looked up: {}", account,
                                                     std::generic_category().message(error)));
  }
  if (found == nullptr) return invalid(fmt::format("there is no Unix account '{}' on this machine", account));
  const bool of_system = entry.pw_uid < kFirstOfPeople || entry.pw_uid == kNobody;
  if (of_system && std::ranges::find(settings_.system_accounts, account) == settings_.system_accounts.end()) {
    return invalid(fmt::format(
        "Unix account '{0}' has uid {1}: jobs do not run as {2} (to permit it, name it in the configuration: "
        "system_accounts: [{0}])",
        account, entry.pw_uid, entry.pw_uid == 0 ? "root" : "accounts of the system"));
  }
  TESON_TRY(std::vector<uint32_t> groups, groups_of(entry));
  return UnixAccount{entry.pw_name, entry.pw_uid, entry.pw_gid, std::move(groups), entry.pw_dir};
}

bool Accounts::needs_one(std::string_view user) const {
  switch (settings_.rule) {
    case AccountRule::kOff:
      return false;
    case AccountRule::kRequired:
      return true;
    case AccountRule::kAuto:
      break;
  }
  return root_ && !registry_.is_of_credentials_file(user);
}

Result<std::optional<UnixAccount>> Accounts::of(std::string_view user) const {
  const std::string account = registry_.account_of(user);
  if (account.empty()) {
    if (!needs_one(user)) return std::nullopt;
    return fail(
        ErrorKind::kDenied,
        fmt::format("user '{0}' has no Unix account to run jobs as: an admin gives one with 'teson user account "
                    "{0} ACCOUNT'",
                    user));
  }
  TESON_TRY(UnixAccount found, find(account));
  if (root_) return found;
  if (found.uid == geteuid()) return std::nullopt;
  return invalid(fmt::format(
      "jobs of user '{}' run as the Unix account '{}', which only a server that runs as root can take on; this "
      "one does not",
      user, account));
}

}  // namespace teson
