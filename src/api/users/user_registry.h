// The users of this server and their keys.
//
// The first users come from <data>/credentials (profile `default` and whatever else stands there): admins, who are
// changed by changing that file. All others are made, changed and revoked here; `save` keeps them.
//
// Thread: find() any, concurrently, never waits for a save; the rest any, one after another, and blocks on `save`.
// Failure: kInvalid, kNotFound, kConflict with what would be right; whatever `save` answers, and then nothing has
// changed. What is changed is saved first and in effect when the call returns. Holds secrets: none is ever returned but
// a new key, once.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/http/auth.h"
#include "api/users/new_key.h"
#include "domain/user.h"

namespace teson::users {

struct User {
  std::string name;
  Role role = Role::kUser;
  Instant created;
  // Empty: revoked. The name stays known, since jobs are this user's.
  std::vector<Key> keys;
  bool of_credentials_file = false;
  std::string account = {};  // the Unix account that jobs run as; empty: none
};

// By name.
using Users = std::map<std::string, User, std::less<>>;

class UserRegistry final : public http::Credentials {
 public:
  // Of all users: what is of the credentials file has only its account to be kept.
  using Save = std::function<Status(const Users&)>;

  // `users`: of both kinds, names and key ids unique (check_users).
  UserRegistry(Users users, Save save);

  std::optional<http::KeyHolder> find(std::string_view access_key_id) const override;

  Users list() const;  // without secrets
  // A user whose keys were revoked may be added again, and finds the jobs that were theirs.
  // `account`: as of set_account; empty leaves the one that such a user had.
  Result<Key> add(const std::string& name, Role role, Instant now, const std::string& account = {});
  // A new key in the place of all old ones.
  Result<Key> rotate(const std::string& name, Instant now);
  // All keys of a user, or one key by its id. Returns what is left, without secrets.
  Result<User> revoke(const std::string& name_or_key);
  Result<User> set_role(const std::string& name, Role role);
  // Any user's, those of the credentials file included. Empty: none any more. Whether there is such an account is the
  // caller's to know.
  Result<User> set_account(const std::string& name, const std::string& account);

  // Like find(): any thread, never waits for a save. Empty: none, or no such user.
  std::string account_of(std::string_view name) const;
  bool is_of_credentials_file(std::string_view name) const;

 private:
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  using Holders = std::unordered_map<std::string, http::KeyHolder, TextHash, std::equal_to<>>;

  Result<User*> user_to_change(Users& users, const std::string& name) const;
  Status commit(Users changed);

  const Save save_;
  mutable std::mutex changing_;  // users_
  Users users_;
  struct Standing {
    std::string account;
    bool of_credentials_file = false;
  };
  using Standings = std::map<std::string, Standing, std::less<>>;
  static Standings standings_of(const Users& users);

  mutable std::shared_mutex finding_;  // holders_, standings_
  Holders holders_;
  Standings standings_;  // by name
};

// kInvalid: a bad name, or a key id that two have.
Status check_users(const Users& users);

}  // namespace teson::users
