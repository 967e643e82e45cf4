// The users that admins have made: <data>/users.json, readable by its owner alone, with their keys' secrets (a
// signature can only be checked with the secret itself).
//
//   {"format": 1, "users": [{"name", "role", "created_us", "keys": [{"id", "secret", "created_us"}]}],
//    "accounts"?: [{"user", "account"}]}: the Unix accounts of these and of the credentials file's users; then format 2
//
// Unknown members are ignored; a newer format is refused, so that an old program never loses what it does not know.
#pragma once

#include <string>

#include "api/users/user_registry.h"
#include "base/result.h"

namespace teson {

// Those of the file and `first`, the ones of the credentials file. kInvalid: what is wrong, and where.
Result<users::Users> load_users(const std::string& data, users::Users first);
// On the disk when it returns.
Status save_users(const std::string& data, const users::Users& users);

}  // namespace teson
