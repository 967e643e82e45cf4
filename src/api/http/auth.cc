#include "api/http/auth.h"

namespace teson::http {
namespace {

// So many users, regions, services and days keep their one-HMAC request; each takes about 300 bytes.
constexpr size_t kCachedKeys = 4096;

}  // namespace

std::optional<KeyHolder> FixedCredentials::find(std::string_view access_key_id) const {
  for (const Key& key : keys_) {
    if (key.access_key_id == access_key_id) return KeyHolder{key.secret_access_key, key.caller};
  }
  return std::nullopt;
}

Authenticator::Authenticator(const Credentials& credentials, std::function<Instant()> wall)
    : credentials_(credentials), wall_(std::move(wall)), cache_(kCachedKeys) {}

std::expected<Authenticated, wire::AuthError> Authenticator::authenticate(const Request& request) const {
  wire::VerifyOptions options;
  options.cache = &cache_;
  const wire::RequestView view{request.method, request.path, request.raw_query, request.headers, request.body};
  // Looked up once: a key that is revoked meanwhile is not judged half by the old and half by the new.
  std::optional<KeyHolder> holder;
  const wire::SecretLookup lookup = [this, &holder](std::string_view access_key_id) -> std::optional<std::string> {
    holder = credentials_.find(access_key_id);
    if (!holder) return std::nullopt;
    return std::move(holder->secret_access_key);
  };
  auto verified = wire::verify(view, lookup, wall_(), options);
  if (!verified) return std::unexpected(std::move(verified.error()));
  return Authenticated{std::move(verified->access_key_id), std::move(holder->caller)};
}

}  // namespace teson::http
