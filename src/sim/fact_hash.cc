#include "sim/fact_hash.h"

#include <algorithm>
#include <concepts>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "codec/fields.h"

namespace teson::sim {
namespace {

// Stands where the codec's writer stands; the keys do not matter, the order of the fields does.
class Hasher {
 public:
  explicit Hasher(uint64_t hash) : hash_(hash) {}
  uint64_t value() const { return hash_; }

  template <class T>
  void operator()(std::string_view, const T& value) {
    add(value);
  }
  template <class T>
  void required(std::string_view, const T& value) {
    add(value);
  }

  void mix(uint64_t word) {  // the multiplier of splitmix64
    hash_ = (hash_ ^ word) * 0xBF58476D1CE4E5B9ULL;
    hash_ ^= hash_ >> 32;
  }

 private:
  template <class T>
    requires std::integral<T> || std::is_enum_v<T>
  void add(T value) {
    mix(static_cast<uint64_t>(value));
  }
  void add(Instant value) { add(value.micros); }
  void add(Duration value) { add(value.micros); }
  void add(Money value) { add(value.micro_usd); }
  void add(const JobId& id) {
    mix(id.uuid.high);
    mix(id.uuid.low);
    mix(static_cast<uint64_t>(id.index));
  }
  void add(const AttemptId& id) {
    add(id.job);
    add(id.number);
  }
  void add(const InstanceId& id) { mix(id.value); }
  void add(const std::string& text) {
    mix(text.size());
    for (size_t at = 0; at < text.size(); at += 8) {
      uint64_t word = 0;
      std::memcpy(&word, text.data() + at, std::min<size_t>(8, text.size() - at));
      mix(word);
    }
  }
  template <class A, class B>
  void add(const std::pair<A, B>& pair) {
    add(pair.first);
    add(pair.second);
  }
  template <class T>
  void add(const std::optional<T>& value) {
    mix(value.has_value() ? 1 : 0);
    if (value) add(*value);
  }
  template <class List>
    requires requires(const List& list) { list.begin(), list.size(); }
  void add(const List& list) {
    mix(list.size());
    for (const auto& item : list) add(item);
  }
  template <class T>
    requires std::is_aggregate_v<T>
  void add(const T& value) {
    codec::fields(*this, value);
  }

  uint64_t hash_;
};

}  // namespace

uint64_t hash_on(uint64_t hash, const Fact& fact) {
  Hasher hasher(hash);
  hasher.mix(static_cast<uint64_t>(fact.at.micros));
  hasher.mix(fact.body.index());
  std::visit([&hasher](const auto& body) { codec::fields(hasher, body); }, fact.body);
  return hasher.value();
}

}  // namespace teson::sim
