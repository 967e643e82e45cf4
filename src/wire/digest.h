// SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104), and the only way that secrets are compared.
//
// Thread: any; a Sha256 object belongs to one thread at a time. Built on OpenSSL; memory exhaustion aborts.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace teson::wire {

using Digest = std::array<uint8_t, 32>;

// In pieces; digest() ends it and makes it ready for the next message.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();

  void update(std::string_view bytes);
  Digest digest();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Digest sha256(std::string_view bytes);
std::string sha256_hex(std::string_view bytes);
Digest hmac_sha256(std::string_view key, std::string_view message);

std::string hex(const Digest& digest);
inline std::string_view as_text(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// Takes the same time wherever the first difference is. Lengths are not secret.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace teson::wire
