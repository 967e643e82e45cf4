// Who may speak: every request's signature is checked against the keys that this interface knows.
#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "api/http/http.h"
#include "base/time.h"
#include "wire/signing_key_cache.h"
#include "wire/sigv4.h"

namespace teson::http {

// Thread: any, concurrently; must not block.
class Credentials {
 public:
  virtual ~Credentials() = default;
  virtual std::optional<std::string> secret_access_key(std::string_view access_key_id) const = 0;
};

// A fixed set of keys.
class FixedCredentials final : public Credentials {
 public:
  struct Key {
    std::string access_key_id;
    std::string secret_access_key;
  };
  explicit FixedCredentials(std::vector<Key> keys) : keys_(std::move(keys)) {}
  std::optional<std::string> secret_access_key(std::string_view access_key_id) const override;

 private:
  std::vector<Key> keys_;
};

// Verifies SigV4 with a cache of signing keys. Thread: any, concurrently. `credentials` must outlive it. `wall` is the
// system's clock (Clock::wall).
class Authenticator {
 public:
  Authenticator(const Credentials& credentials, std::function<Instant()> wall);

  std::expected<wire::Verified, wire::AuthError> authenticate(const Request& request) const;

 private:
  const Credentials& credentials_;
  std::function<Instant()> wall_;
  wire::SecretLookup lookup_;
  mutable wire::SigningKeyCache cache_;
};

}  // namespace teson::http
