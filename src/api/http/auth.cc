#include "api/http/auth.h"

namespace teson::http {

std::optional<std::string> FixedCredentials::secret_access_key(std::string_view access_key_id) const {
  for (const Key& key : keys_) {
    if (key.access_key_id == access_key_id) return key.secret_access_key;
  }
  return std::nullopt;
}

Authenticator::Authenticator(const Credentials& credentials, std::function<Instant()> wall)
    : credentials_(credentials),
      wall_(std::move(wall)),
      lookup_([this](std::string_view access_key_id) { return credentials_.secret_access_key(access_key_id); }) {}

std::expected<wire::Verified, wire::AuthError> Authenticator::authenticate(const Request& request) const {
  wire::VerifyOptions options;
  options.cache = &cache_;
  const wire::RequestView view{request.method, request.path, request.raw_query, request.headers, request.body};
  return wire::verify(view, lookup_, wall_(), options);
}

}  // namespace teson::http
