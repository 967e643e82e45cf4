#include "api/users/users_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/try.h"

namespace teson::users {
namespace {

using wire::Json;
using wire::JsonValue;

constexpr size_t kThreads = 1;
constexpr size_t kMaxWaiting = 100;
constexpr size_t kMaxText = 128;

Json user_json(const User& user) {
  Json keys = Json::array();
  for (const Key& key : user.keys) {
    Json entry = {{"accessKeyId", key.access_key_id}};
    if (key.created.micros > 0) entry["createdAt"] = key.created.millis();
    keys.push_back(std::move(entry));
  }
  Json out = {{"name", user.name}, {"role", role_name(user.role)}, {"keys", std::move(keys)}};
  if (user.created.micros > 0) out["createdAt"] = user.created.millis();
  if (!user.account.empty()) out["account"] = user.account;
  out["source"] = user.of_credentials_file ? "credentials" : "users";
  return out;
}

// A name may be echoed on a terminal.
Result<std::string> required_text(const JsonValue& body, const char* member) {
  TESON_TRY(std::string text, wire::required_string(body, member, kMaxText));
  const bool plain = std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7F; });
  if (plain) return text;
  return wire::field(body, member)->refuse("Member must not hold control characters");
}

Result<Role> required_role(const JsonValue& body) {
  TESON_TRY(const std::string text, wire::required_enum(body, "role", {"admin", "user", "read-only"}));
  return *parse_role(text);
}

Json new_key_json(const UserRegistry& registry, const std::string& name, const Key& key) {
  const Users users = registry.list();
  const auto user = users.find(name);
  return {{"user", user == users.end() ? Json() : user_json(user->second)},
          {"accessKeyId", key.access_key_id},
          {"secretAccessKey", key.secret_access_key}};
}

}  // namespace

UsersApi::UsersApi(UserRegistry& registry, const Clock& clock, CheckAccount check_account)
    : registry_(registry), clock_(clock), check_account_(std::move(check_account)), workers_(kThreads, kMaxWaiting) {}

void UsersApi::register_routes(http::Router& router) { router.add("POST", "/teson/v1/users/{operation}", *this); }

const UsersApi::Operation* UsersApi::find_operation(const http::Request& request) {
  using http::Need;
  static const std::array kOperations = {
      Operation{"add", {"teson:AddUser", Need::kAdmin}, &UsersApi::add},
      Operation{"rotate", {"teson:RotateKeys", Need::kAdmin}, &UsersApi::rotate},
      Operation{"list", {"teson:ListUsers", Need::kAdmin, false}, &UsersApi::list},
      Operation{"revoke", {"teson:RevokeKeys", Need::kAdmin}, &UsersApi::revoke},
      Operation{"role", {"teson:SetRole", Need::kAdmin}, &UsersApi::role},
      Operation{"account", {"teson:SetAccount", Need::kAdmin}, &UsersApi::account},
      Operation{"whoami", {"teson:WhoAmI", Need::kRead}, &UsersApi::whoami},
  };
  const std::string_view name = request.path_parameter("operation");
  for (const Operation& operation : kOperations) {
    if (operation.path == name) return &operation;
  }
  return nullptr;
}

http::Action UsersApi::action(const http::Request& request) const {
  const Operation* operation = find_operation(request);
  return operation ? operation->action : http::Action{request.path, http::Need::kRead};
}

void UsersApi::handle(http::Request request, http::Reply reply) {
  const Operation* operation = find_operation(request);
  if (!operation) return reply(http::error_response(request, wire::unknown_operation(request.protocol)));
  const auto shared = std::make_shared<const http::Request>(std::move(request));
  const bool accepted = workers_.submit([this, operation, shared, reply] {
    const auto body = wire::parse_json_object(shared->body);
    const Answer answer =
        body ? (this->*operation->run)(*shared, JsonValue(*body, "")) : Answer(std::unexpected(body.error()));
    if (answer) return reply(http::json_response(*shared, wire::json_text(*answer)));
    wire::AwsError error = wire::batch_error(answer.error());
    if (error.fault == wire::Fault::kServer) error.status = 503;
    reply(http::error_response(*shared, error));
  });
  if (!accepted) {
    reply(http::error_response(
        *shared, wire::server_error("ServerException", "Too many requests about users are waiting: try again.", 503)));
  }
}

UsersApi::Answer UsersApi::add(const http::Request& request, const JsonValue& body) {
  TESON_TRY(const std::string name, required_text(body, "name"));
  request.touches("user/" + name);
  Role role = Role::kUser;
  if (wire::field(body, "role")) {
    TESON_TRY(role, required_role(body));
  }
  TESON_TRY(const auto account, wire::optional_string(body, "account", kMaxText));
  if (account) TESON_TRY_STATUS(check_account_(*account));
  TESON_TRY(const Key key, registry_.add(name, role, clock_.now(), account.value_or("")));
  return new_key_json(registry_, name, key);
}

UsersApi::Answer UsersApi::rotate(const http::Request& request, const JsonValue& body) {
  TESON_TRY(const std::string name, required_text(body, "name"));
  request.touches("user/" + name);
  TESON_TRY(const Key key, registry_.rotate(name, clock_.now()));
  return new_key_json(registry_, name, key);
}

UsersApi::Answer UsersApi::list(const http::Request&, const JsonValue&) {
  Json out = {{"users", Json::array()}};
  for (const auto& [name, user] : registry_.list()) out["users"].push_back(user_json(user));
  return out;
}

UsersApi::Answer UsersApi::revoke(const http::Request& request, const JsonValue& body) {
  TESON_TRY(const std::string which, required_text(body, "user"));
  request.touches("user/" + which);
  TESON_TRY(const User left, registry_.revoke(which));
  return Json{{"user", user_json(left)}};
}

UsersApi::Answer UsersApi::role(const http::Request& request, const JsonValue& body) {
  TESON_TRY(const std::string name, required_text(body, "name"));
  request.touches("user/" + name);
  TESON_TRY(const Role role, required_role(body));
  TESON_TRY(const User left, registry_.set_role(name, role));
  return Json{{"user", user_json(left)}};
}

UsersApi::Answer UsersApi::account(const http::Request& request, const JsonValue& body) {
  TESON_TRY(const std::string name, wire::required_string(body, "name", kMaxText));
  request.touches("user/" + name);
  TESON_TRY(const auto account, wire::optional_string(body, "account", kMaxText));
  if (account) TESON_TRY_STATUS(check_account_(*account));
  TESON_TRY(const User left, registry_.set_account(name, account.value_or("")));
  return Json{{"user", user_json(left)}};
}

UsersApi::Answer UsersApi::whoami(const http::Request& request, const JsonValue&) {
  return Json{{"user", {{"name", request.caller.name}, {"role", role_name(request.caller.role)}}}};
}

}  // namespace teson::users
