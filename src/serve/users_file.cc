#include "serve/users_file.h"

#include <fmt/format.h>

#include "base/try.h"
#include "serve/private_file.h"
#include "wire/json.h"

namespace teson {
namespace {

using wire::Json;
using wire::JsonValue;

constexpr int64_t kFormat = 1;
// With accounts: a program that does not know them would run jobs with its own rights.
constexpr int64_t kFormatWithAccounts = 2;

std::string path_of(const std::string& data) { return data + "/users.json"; }

Result<Instant> instant_of(const JsonValue& value) {
  TESON_TRY(const auto micros, wire::optional_int(value, "created_us"));
  return Instant{micros.value_or(0)};
}

Result<users::Key> key_of(const JsonValue& value) {
  TESON_TRY_STATUS(value.expect_object());
  users::Key key;
  TESON_TRY(key.access_key_id, wire::required_string(value, "id"));
  TESON_TRY(key.secret_access_key, wire::required_string(value, "secret"));
  TESON_TRY(key.created, instant_of(value));
  return key;
}

Result<users::User> user_of(const JsonValue& value) {
  TESON_TRY_STATUS(value.expect_object());
  users::User user;
  TESON_TRY(user.name, wire::required_string(value, "name"));
  TESON_TRY(const std::string role, wire::required_enum(value, "role", {"admin", "user", "read-only"}));
  user.role = *parse_role(role);
  TESON_TRY(user.created, instant_of(value));
  TESON_TRY(const auto keys, wire::optional_array(value, "keys"));
  for (const JsonValue& entry : keys) {
    TESON_TRY(users::Key key, key_of(entry));
    user.keys.push_back(std::move(key));
  }
  return user;
}

Result<users::Users> parse_users(const std::string& text, users::Users users) {
  TESON_TRY(const Json document, wire::parse_json_object(text));
  const JsonValue value(document, "");
  TESON_TRY(const auto format, wire::optional_int(value, "format"));
  if (format != kFormat && format != kFormatWithAccounts) {
    return invalid(
        fmt::format("'format' is neither {} nor {}: a newer teson has written it", kFormat, kFormatWithAccounts));
  }
  TESON_TRY(const auto entries, wire::optional_array(value, "users"));
  for (const JsonValue& entry : entries) {
    TESON_TRY(users::User user, user_of(entry));
    const std::string name = user.name;
    if (!users.emplace(name, std::move(user)).second) {
      return invalid(fmt::format("user '{}' is there already: in this file or as a profile of 'credentials'", name));
    }
  }
  TESON_TRY(const auto accounts, wire::optional_array(value, "accounts"));
  for (const JsonValue& entry : accounts) {
    TESON_TRY_STATUS(entry.expect_object());
    TESON_TRY(const std::string name, wire::required_string(entry, "user"));
    TESON_TRY(const std::string account, wire::required_string(entry, "account"));
    // A profile that is in 'credentials' no more has no jobs to come.
    if (const auto user = users.find(name); user != users.end()) user->second.account = account;
  }
  TESON_TRY_STATUS(users::check_users(users));
  return users;
}

}  // namespace

Result<users::Users> load_users(const std::string& data, users::Users first) {
  const std::string path = path_of(data);
  TESON_TRY(const auto text, read_private_file(path));
  if (!text) return first;
  auto users = parse_users(*text, std::move(first));
  if (!users) return invalid(path + ": " + users.error().message);
  return users;
}

Status save_users(const std::string& data, const users::Users& users) {
  Json entries = Json::array();
  Json accounts = Json::array();
  for (const auto& [name, user] : users) {
    if (!user.account.empty()) accounts.push_back({{"user", name}, {"account", user.account}});
    if (user.of_credentials_file) continue;
    Json keys = Json::array();
    for (const users::Key& key : user.keys) {
      keys.push_back(
          {{"id", key.access_key_id}, {"secret", key.secret_access_key}, {"created_us", key.created.micros}});
    }
    entries.push_back(
        {{"name", name}, {"role", role_name(user.role)}, {"created_us", user.created.micros}, {"keys", keys}});
  }
  Json document = {{"format", kFormat}, {"users", std::move(entries)}};
  if (!accounts.empty()) {
    document["format"] = kFormatWithAccounts;
    document["accounts"] = std::move(accounts);
  }
  return write_private_file(path_of(data), document.dump(1) + "\n");
}

}  // namespace teson
