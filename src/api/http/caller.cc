#include "api/http/caller.h"

#include <fmt/format.h>

namespace teson::http {

bool is_permitted(Role role, Need need) {
  switch (need) {
    case Need::kRead:
      return true;
    case Need::kChange:
      return role == Role::kUser || role == Role::kAdmin;
    case Need::kAdmin:
      break;
  }
  return role == Role::kAdmin;
}

std::string refusal(const Caller& caller, const Action& action) {
  return fmt::format(
      "User: {} is not authorized to perform: {} because its role is {} and {}: ask an admin to do it, or for another "
      "role (teson user role {} {})",
      caller.name, action.name, role_name(caller.role),
      action.need == Need::kAdmin ? "only admins may" : "a read-only user changes nothing", caller.name,
      action.need == Need::kAdmin ? "admin" : "user");
}

}  // namespace teson::http
