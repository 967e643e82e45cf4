// Who asks: a user of the server and what this user may do.
//
// A plain value; any thread. Secrets are not here: a key belongs to a user in api/users, and ends there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace teson {

// The owner of the data directory: the profile `default` of its credentials file. Jobs and definitions of before there
// were users are this user's.
inline constexpr std::string_view kFirstUser = "default";

enum class Role {
  kReadOnly,  // describes, lists, reads logs
  kUser,      // also submits, and changes what is this user's own
  kAdmin,     // everything
};

struct Caller {
  std::string name{kFirstUser};
  Role role = Role::kAdmin;

  bool operator==(const Caller&) const = default;
};

// "read-only", "user", "admin": for ever, as files and clients hold them.
std::string_view role_name(Role role);
std::optional<Role> parse_role(std::string_view text);

// 1 to 64 of [A-Za-z0-9._-], beginning with a letter or digit: safe in a file name, a tag, a line of a log, an ini
// file.
bool is_user_name(std::string_view text);

// What is kept as a thing's owner: nothing for the first user, so that a server of one user keeps nothing more.
std::string kept_owner(const Caller& caller);
// The owner's name, out of what is kept.
std::string_view owner_name(std::string_view kept);
bool may_change(const Caller& caller, std::string_view kept_owner);

}  // namespace teson
