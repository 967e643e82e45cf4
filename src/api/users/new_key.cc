#include "api/users/new_key.h"

#include <sys/random.h>

#include <array>
#include <string_view>

namespace teson::users {
namespace {

// 5 or 6 whole bits a character, so that each is as likely as the other.
Result<std::string> random_text(size_t length, std::string_view alphabet) {
  std::array<unsigned char, 64> bits{};
  if (getrandom(bits.data(), bits.size(), 0) != static_cast<ssize_t>(bits.size())) return errno_error("getrandom");
  std::string out;
  for (size_t i = 0; i < length; ++i) out += alphabet[bits.at(i) % alphabet.size()];
  return out;
}

}  // namespace

Result<Key> new_key(Instant now) {
  auto id = random_text(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567");
  auto secret = random_text(40, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
  if (!id || !secret) return std::unexpected((id ? secret : id).error());
  return Key{"AKIA" + *id, std::move(*secret), now};
}

}  // namespace teson::users
