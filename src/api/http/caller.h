// What an operation needs of the user who asks, and the record of who asked for what.
//
// A face names each operation and its need (Handler::action); the router refuses those whose role is not enough and has
// everything else that changes something written to the audit log. Whose job it is only the control loop knows: faces
// pass Request::caller on with their commands.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "domain/user.h"

namespace teson::http {

enum class Need {
  kRead,    // any user
  kChange,  // not read-only
  kAdmin,
};

struct Action {
  std::string name;  // "batch:SubmitJob"
  Need need = Need::kAdmin;
  bool changes = true;  // false with kAdmin: a read for admins alone
};

bool is_permitted(Role role, Need need);
// "User: ana is not authorized to perform: batch:CreateJobQueue because ...", with what would be right.
std::string refusal(const Caller& caller, const Action& action);

// One line of the audit log. Never holds a secret, a command line or an environment.
struct AuditRecord {
  Instant at;
  std::string user;  // empty: the signature was refused
  std::string key;   // the access key id; of a refused signature as claimed
  std::string action;
  std::string resource;  // set by the face that handles the request; empty: it names none
  std::string outcome;   // "ok", or the AWS error code
  std::string source;    // "127.0.0.1:51234"
};

// Thread: any, concurrently; must not block.
class AuditSink {
 public:
  virtual ~AuditSink() = default;
  virtual void record(AuditRecord record) = 0;
};

}  // namespace teson::http
