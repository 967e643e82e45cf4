#include "serve/access_keys.h"

#include <fmt/format.h>

#include "api/users/new_key.h"
#include "base/try.h"
#include "serve/private_file.h"
#include "wire/credentials.h"

namespace teson {
namespace {

Result<std::string> make_keys(const std::string& path) {
  TESON_TRY(const users::Key key, users::new_key(Instant{}));
  TESON_TRY(std::string text,
            wire::render_credentials({{std::string(kFirstUser), key.access_key_id, key.secret_access_key, ""}}));
  TESON_TRY_STATUS(write_private_file(path, text));
  return text;
}

}  // namespace

Result<users::Users> open_access_keys(const std::string& data) {
  const std::string path = data + "/credentials";
  TESON_TRY(const auto there, read_private_file(path));
  TESON_TRY(const std::string text, there ? Result<std::string>(*there) : make_keys(path));
  const auto profiles = wire::parse_credentials(text);
  if (!profiles) return invalid(path + ": " + profiles.error().message);
  users::Users out;
  for (const auto& profile : *profiles) {
    const users::Key key{profile.access_key_id, profile.secret_access_key, {}};
    out.emplace(profile.name, users::User{profile.name, Role::kAdmin, {}, {key}, true, {}});
  }
  if (out.empty()) return invalid(path + ": holds no key; remove the file to have one made");
  return out;
}

}  // namespace teson
