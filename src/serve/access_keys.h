// The first users: <data>/credentials, in AWS's own ini form, readable by its owner alone. Each profile is an admin.
#pragma once

#include <string>

#include "api/users/user_registry.h"
#include "base/result.h"

namespace teson {

// Reads the file; makes it with one fresh key (profile `default`) if it is absent. A file that others may read is
// refused, and so is one without a whole key.
Result<users::Users> open_access_keys(const std::string& data);

}  // namespace teson
