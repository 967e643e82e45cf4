#include "api/users/user_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/try.h"

namespace teson::users {
namespace {

constexpr size_t kMaxUsers = 10'000;  // the file is written whole at each change

std::unexpected<Error> of_the_file(const std::string& name, std::string_view what) {
  return conflict(
      fmt::format("user '{}' is one of the data directory's own file 'credentials' and stays an admin with the key "
                  "there: {}",
                  name, what));
}

User without_secrets(User user) {
  for (Key& key : user.keys) key.secret_access_key.clear();
  return user;
}

}  // namespace

Status check_users(const Users& users) {
  std::set<std::string_view> ids;
  for (const auto& [name, user] : users) {
    // The credentials file's profiles may be called anything.
    if (!user.of_credentials_file && !is_user_name(name)) return invalid(fmt::format("'{}' is no user's name", name));
    for (const Key& key : user.keys) {
      if (!ids.insert(key.access_key_id).second) {
        return invalid(fmt::format("two users have the access key {}", key.access_key_id));
      }
    }
  }
  return {};
}

UserRegistry::UserRegistry(Users users, Save save)
    : save_(std::move(save)), users_(std::move(users)), standings_(standings_of(users_)) {
  for (const auto& [name, user] : users_) {
    for (const Key& key : user.keys) {
      holders_.emplace(key.access_key_id, http::KeyHolder{key.secret_access_key, {name, user.role}});
    }
  }
}

std::optional<http::KeyHolder> UserRegistry::find(std::string_view access_key_id) const {
  const std::shared_lock lock(finding_);
  const auto found = holders_.find(access_key_id);
  return found == holders_.end() ? std::nullopt : std::optional(found->second);
}

Users UserRegistry::list() const {
  const std::lock_guard lock(changing_);
  Users out;
  for (const auto& [name, user] : users_) out.emplace(name, without_secrets(user));
  return out;
}

Result<User*> UserRegistry::user_to_change(Users& users, const std::string& name) const {
  const auto found = users.find(name);
  if (found == users.end()) {
    return not_found(fmt::format("there is no user '{}': 'teson user list' shows all", name.substr(0, 64)));
  }
  if (found->second.of_credentials_file) {
    return of_the_file(name, "change it in the file and start the server again");
  }
  return &found->second;
}

Status UserRegistry::commit(Users changed) {
  TESON_TRY_STATUS(save_(changed));
  Holders holders;
  for (const auto& [name, user] : changed) {
    for (const Key& key : user.keys) {
      holders.emplace(key.access_key_id, http::KeyHolder{key.secret_access_key, {name, user.role}});
    }
  }
  users_ = std::move(changed);
  Standings standings = standings_of(users_);
  const std::unique_lock lock(finding_);
  holders_ = std::move(holders);
  standings_ = std::move(standings);
  return {};
}

UserRegistry::Standings UserRegistry::standings_of(const Users& users) {
  Standings out;
  for (const auto& [name, user] : users) out.emplace(name, Standing{user.account, user.of_credentials_file});
  return out;
}

std::string UserRegistry::account_of(std::string_view name) const {
  const std::shared_lock lock(finding_);
  const auto found = standings_.find(name);
  return found == standings_.end() ? std::string() : found->second.account;
}

bool UserRegistry::is_of_credentials_file(std::string_view name) const {
  const std::shared_lock lock(finding_);
  const auto found = standings_.find(name);
  return found != standings_.end() && found->second.of_credentials_file;
}

Result<User> UserRegistry::set_account(const std::string& name, const std::string& account) {
  const std::lock_guard lock(changing_);
  Users changed = users_;
  const auto found = changed.find(name);
  if (found == changed.end()) {
    return not_found(fmt::format("there is no user '{}': 'teson user list' shows all", name.substr(0, 64)));
  }
  found->second.account = account;
  User left = without_secrets(found->second);
  TESON_TRY_STATUS(commit(std::move(changed)));
  return left;
}

Result<Key> UserRegistry::add(const std::string& name, Role role, Instant now, const std::string& account) {
  if (!is_user_name(name)) {
    return invalid(
        fmt::format("'{}' cannot be a user's name: 1 to 64 letters, digits, '.', '_' and '-', the first a "
                    "letter or digit",
                    name.substr(0, 64)));
  }
  const std::lock_guard lock(changing_);
  Users changed = users_;
  User& user = changed[name];
  if (!user.keys.empty()) {
    return conflict(
        fmt::format("user '{0}' is there already; a new key: 'teson user rotate {0}', another role: "
                    "'teson user role {0} ROLE'",
                    name));
  }
  if (changed.size() > kMaxUsers) return conflict(fmt::format("there are {} users, which is the limit", kMaxUsers));
  if (user.name.empty()) user = {name, role, now, {}, false, {}};
  user.role = role;
  if (!account.empty()) user.account = account;
  TESON_TRY(Key key, new_key(now));
  user.keys = {key};
  TESON_TRY_STATUS(commit(std::move(changed)));
  return key;
}

Result<Key> UserRegistry::rotate(const std::string& name, Instant now) {
  const std::lock_guard lock(changing_);
  Users changed = users_;
  TESON_TRY(User * user, user_to_change(changed, name));
  if (user->keys.empty()) {
    return conflict(fmt::format("user '{0}' was revoked; 'teson user add {0}' lets them in again", name));
  }
  TESON_TRY(Key key, new_key(now));
  user->keys = {key};
  TESON_TRY_STATUS(commit(std::move(changed)));
  return key;
}

Result<User> UserRegistry::revoke(const std::string& name_or_key) {
  const std::lock_guard lock(changing_);
  Users changed = users_;
  for (auto& [name, user] : changed) {
    const auto key = std::ranges::find(user.keys, name_or_key, &Key::access_key_id);
    if (key == user.keys.end()) continue;
    if (user.of_credentials_file) return of_the_file(name, "change it in the file and start the server again");
    user.keys.erase(key);
    User left = without_secrets(user);
    TESON_TRY_STATUS(commit(std::move(changed)));
    return left;
  }
  TESON_TRY(User * user, user_to_change(changed, name_or_key));
  user->keys.clear();
  User left = *user;
  TESON_TRY_STATUS(commit(std::move(changed)));
  return left;
}

Result<User> UserRegistry::set_role(const std::string& name, Role role) {
  const std::lock_guard lock(changing_);
  Users changed = users_;
  TESON_TRY(User * user, user_to_change(changed, name));
  user->role = role;
  User left = without_secrets(*user);
  TESON_TRY_STATUS(commit(std::move(changed)));
  return left;
}

}  // namespace teson::users
