// Derived signing keys, so that a busy client costs one HMAC a request rather than five.
//
// Thread: any, concurrently. Bounded: the oldest entry makes room. A key is only kept with the secret that it came
// from, so a changed secret is never served from here. Holds secrets: never print or dump.
#pragma once

#include <deque>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "wire/digest.h"

namespace teson::wire {

class SigningKeyCache {
 public:
  explicit SigningKeyCache(size_t capacity = 256) : capacity_(capacity) {}

  // `scope` is "<day>/<region>/<service>/aws4_request".
  std::optional<Digest> find(std::string_view access_key_id, std::string_view secret, std::string_view scope) const;
  // Call only after the signature proved right, or strangers could push good keys out.
  void put(std::string_view access_key_id, std::string_view secret, std::string_view scope, const Digest& key);

  size_t size() const;

 private:
  struct Entry {
    std::string secret;
    Digest key;
  };

  const size_t capacity_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
  std::deque<std::string> order_;  // oldest first; each name in entries_ once
};

}  // namespace teson::wire
