#include "domain/user.h"

#include <algorithm>
#include <array>
#include <utility>

namespace teson {
namespace {

constexpr size_t kMaxName = 64;
constexpr std::array<std::pair<Role, std::string_view>, 3> kRoles = {
    {{Role::kReadOnly, "read-only"}, {Role::kUser, "user"}, {Role::kAdmin, "admin"}}};

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

}  // namespace

std::string_view role_name(Role role) {
  for (const auto& [value, name] : kRoles) {
    if (value == role) return name;
  }
  return {};
}

std::optional<Role> parse_role(std::string_view text) {
  for (const auto& [value, name] : kRoles) {
    if (name == text) return value;
  }
  return std::nullopt;
}

bool is_user_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxName && is_letter_or_digit(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; });
}

std::string kept_owner(const Caller& caller) { return caller.name == kFirstUser ? std::string() : caller.name; }

std::string_view owner_name(std::string_view kept) { return kept.empty() ? kFirstUser : kept; }

bool may_change(const Caller& caller, std::string_view kept_owner) {
  if (caller.role == Role::kAdmin) return true;
  return caller.role == Role::kUser && caller.name == owner_name(kept_owner);
}

}  // namespace teson
