// Which Unix account a user's jobs run as (docs/decisions/0020). Only where the server runs as root does it matter.
//
// Thread: any. Asks the system's name service each time, so that what is changed there counts at once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/users/user_registry.h"
#include "base/result.h"
#include "domain/launch.h"

namespace teson {

enum class AccountRule {
  kAuto,      // as root: users made by an admin need one; those of the credentials file may do without
  kRequired,  // everybody needs one
  kOff,       // whoever has none runs as the server
};

struct AccountSettings {
  AccountRule rule = AccountRule::kAuto;
  // Accounts that jobs may run as although they are root's or the system's (uid below 1000, and nobody).
  std::vector<std::string> system_accounts;
};

class Accounts {
 public:
  // `registry` must outlive this.
  Accounts(AccountSettings settings, const users::UserRegistry& registry);

  // The account of that name, with its groups. kInvalid: there is none, or jobs may not run as it. kUnavailable: the
  // name service does not answer.
  Result<UnixAccount> find(const std::string& account) const;
  // What a user's jobs run as; nothing: the server's own account. Any failure of find, kDenied without the account that
  // is needed, kInvalid where the server cannot take on another.
  Result<std::optional<UnixAccount>> of(std::string_view user) const;

 private:
  bool needs_one(std::string_view user) const;

  const AccountSettings settings_;
  const users::UserRegistry& registry_;
  const bool root_;
};

}  // namespace teson
