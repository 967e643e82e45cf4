#include "wire/signing_key_cache.h"

#include <mutex>

namespace teson::wire {
namespace {

std::string name_of(std::string_view access_key_id, std::string_view scope) {
  std::string name;
  name.reserve(access_key_id.size() + scope.size() + 1);
  name.append(access_key_id).append(1, '\n').append(scope);
  return name;
}

}  // namespace

std::optional<Digest> SigningKeyCache::find(std::string_view access_key_id, std::string_view secret,
                                            std::string_view scope) const {
  const std::string name = name_of(access_key_id, scope);
  const std::shared_lock lock(mutex_);
  const auto found = entries_.find(name);
  if (found == entries_.end() || !equal_in_constant_time(found->second.secret, secret)) return std::nullopt;
  return found->second.key;
}

void SigningKeyCache::put(std::string_view access_key_id, std::string_view secret, std::string_view scope,
                          const Digest& key) {
  if (capacity_ == 0) return;
  const std::string name = name_of(access_key_id, scope);
  const std::unique_lock lock(mutex_);
  const auto [entry, is_new] = entries_.insert_or_assign(name, Entry{std::string(secret), key});
  if (!is_new) return;
  order_.push_back(name);
  if (order_.size() > capacity_) {
    entries_.erase(order_.front());
    order_.pop_front();
  }
}

size_t SigningKeyCache::size() const {
  const std::shared_lock lock(mutex_);
  return entries_.size();
}

}  // namespace teson::wire
