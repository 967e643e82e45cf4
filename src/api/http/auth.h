// Who speaks: every request's signature is checked against the keys that this interface knows, and a key says whose it
// is.
#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/http/http.h"
#include "base/time.h"
#include "domain/user.h"
#include "wire/signing_key_cache.h"
#include "wire/sigv4.h"

namespace teson::http {

struct KeyHolder {
  std::string secret_access_key;
  Caller caller;
};

// Thread: any, concurrently; must not block, and must not take longer the more keys there are.
class Credentials {
 public:
  virtual ~Credentials() = default;
  virtual std::optional<KeyHolder> find(std::string_view access_key_id) const = 0;
};

// A fixed set of few keys, all of the first user.
class FixedCredentials final : public Credentials {
 public:
  struct Key {
    std::string access_key_id;
    std::string secret_access_key;
    Caller caller = {};
  };
  explicit FixedCredentials(std::vector<Key> keys) : keys_(std::move(keys)) {}
  std::optional<KeyHolder> find(std::string_view access_key_id) const override;

 private:
  std::vector<Key> keys_;
};

struct Authenticated {
  std::string access_key_id;
  Caller caller;
};

// Verifies SigV4 with a cache of signing keys. Thread: any, concurrently. `credentials` must outlive it. `wall` is the
// system's clock (Clock::wall).
class Authenticator {
 public:
  Authenticator(const Credentials& credentials, std::function<Instant()> wall);

  std::expected<Authenticated, wire::AuthError> authenticate(const Request& request) const;
  Instant wall() const { return wall_(); }

 private:
  const Credentials& credentials_;
  std::function<Instant()> wall_;
  mutable wire::SigningKeyCache cache_;
};

}  // namespace teson::http
