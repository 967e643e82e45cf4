// A fresh access key, in the alphabets of AWS's own, so that every client accepts it. Any thread; the kernel's chance.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"

namespace teson::users {

struct Key {
  std::string access_key_id;      // "AKIA" and 16 of [A-Z2-7]
  std::string secret_access_key;  // 40 of [A-Za-z0-9+/]: 240 bits
  Instant created;
};

Result<Key> new_key(Instant now);

}  // namespace teson::users
