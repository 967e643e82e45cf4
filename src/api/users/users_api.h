// Users over HTTP: POST /teson/v1/users/<operation>, signed as every request is; a JSON object in, one out.
//
//   add     {"name", "role"?}    -> {"user", "accessKeyId", "secretAccessKey"}: the secret is told here and never again
//   rotate  {"name"}             -> the same
//   list    {}                   -> {"users": [...]}
//   revoke  {"user"}             -> {"user"}; a user's name or one access key's id
//   role    {"name", "role"}     -> {"user"}
//   account {"name", "account"?} -> {"user"}; the Unix account that jobs run as; absent: none any more
//   whoami  {}                   -> {"user"}, of whoever asks; all others are for admins
//
// Thread: handle() on any thread; never blocks, as a thread of its own does what is saved. Errors: ClientException 400,
// ServerException 503 when nothing could be saved (and nothing has changed).
#pragma once

#include "api/http/http.h"
#include "api/http/router.h"
#include "api/logs/worker_pool.h"
#include "api/users/user_registry.h"
#include "ports/clock.h"
#include "wire/json.h"

namespace teson::users {

class UsersApi final : public http::Handler {
 public:
  // Whether jobs may run as a Unix account of that name. May block.
  using CheckAccount = std::function<Status(const std::string& account)>;

  // Both must outlive this.
  UsersApi(UserRegistry& registry, const Clock& clock, CheckAccount check_account);

  void register_routes(http::Router& router);
  void handle(http::Request request, http::Reply reply) override;
  http::Action action(const http::Request& request) const override;

 private:
  using Answer = Result<wire::Json>;
  struct Operation {
    std::string_view path;
    http::Action action;
    Answer (UsersApi::*run)(const http::Request&, const wire::JsonValue&);
  };
  static const Operation* find_operation(const http::Request& request);

  Answer add(const http::Request& request, const wire::JsonValue& body);
  Answer rotate(const http::Request& request, const wire::JsonValue& body);
  Answer list(const http::Request& request, const wire::JsonValue& body);
  Answer revoke(const http::Request& request, const wire::JsonValue& body);
  Answer role(const http::Request& request, const wire::JsonValue& body);
  Answer account(const http::Request& request, const wire::JsonValue& body);
  Answer whoami(const http::Request& request, const wire::JsonValue& body);

  UserRegistry& registry_;
  const Clock& clock_;
  const CheckAccount check_account_;
  logs::WorkerPool workers_;  // last: its thread uses the above
};

}  // namespace teson::users
