#include "wire/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/check.h"
#include "wire/bytes.h"

namespace teson::wire {
namespace {

constexpr size_t kBlock = 64;

// Fetched once: OpenSSL 3 otherwise looks the algorithm up by name in every call, which costs more than the hash.
const EVP_MD* algorithm() {
  static const EVP_MD* const md = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  TESON_CHECK(md != nullptr, "OpenSSL offers no SHA-256");
  return md;
}

struct ContextDeleter {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, ContextDeleter>;

Context make_context() {
  Context context(EVP_MD_CTX_new());
  TESON_CHECK(context != nullptr, "out of memory");
  return context;
}

void begin(EVP_MD_CTX* context) {
  TESON_CHECK(EVP_DigestInit_ex2(context, algorithm(), nullptr) == 1, "SHA-256 does not start");
}

void add(EVP_MD_CTX* context, const void* data, size_t size) {
  TESON_CHECK(EVP_DigestUpdate(context, data, size) == 1, "SHA-256 does not go on");
}

Digest end(EVP_MD_CTX* context) {
  Digest out;
  TESON_CHECK(EVP_DigestFinal_ex(context, out.data(), nullptr) == 1, "SHA-256 does not end");
  return out;
}

EVP_MD_CTX* thread_context() {
  thread_local const Context context = make_context();
  return context.get();
}

}  // namespace

struct Sha256::State {
  Context context = make_context();
};

Sha256::Sha256() : state_(std::make_unique<State>()) { begin(state_->context.get()); }
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) { add(state_->context.get(), bytes.data(), bytes.size()); }

Digest Sha256::digest() {
  const Digest out = end(state_->context.get());
  begin(state_->context.get());
  return out;
}

Digest sha256(std::string_view bytes) {
  EVP_MD_CTX* context = thread_context();
  begin(context);
  add(context, bytes.data(), bytes.size());
  return end(context);
}

std::string sha256_hex(std::string_view bytes) { return hex(sha256(bytes)); }

Digest hmac_sha256(std::string_view key, std::string_view message) {
  std::array<uint8_t, kBlock> inner{};
  std::array<uint8_t, kBlock> outer{};
  const Digest shortened = key.size() > kBlock ? sha256(key) : Digest{};
  const std::string_view used = key.size() > kBlock ? as_text(shortened) : key;
  for (size_t i = 0; i < kBlock; ++i) {
    const uint8_t byte = i < used.size() ? static_cast<uint8_t>(used[i]) : 0;
    inner[i] = byte ^ 0x36;
    outer[i] = byte ^ 0x5c;
  }
  EVP_MD_CTX* context = thread_context();
  begin(context);
  add(context, inner.data(), inner.size());
  add(context, message.data(), message.size());
  const Digest first = end(context);
  begin(context);
  add(context, outer.data(), outer.size());
  add(context, first.data(), first.size());
  OPENSSL_cleanse(inner.data(), inner.size());
  OPENSSL_cleanse(outer.data(), outer.size());
  return end(context);
}

std::string hex(const Digest& digest) { return hex(std::span<const uint8_t>(digest)); }

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace teson::wire
