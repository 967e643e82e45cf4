// The credentials file: any text is refused with a line number or read, and what was read is written back the same.
#include <cstdint>

#include "base/check.h"
#include "wire/credentials.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace teson;
  const auto profiles = wire::parse_credentials({reinterpret_cast<const char*>(data), size});
  if (!profiles) {
    TESON_CHECK(profiles.error().message.starts_with("credentials"), "a refusal says where");
    return 0;
  }
  const auto text = wire::render_credentials(*profiles);
  // A value may hold a tab inside, which is read but not written.
  if (!text) return 0;
  const auto again = wire::parse_credentials(*text);
  TESON_CHECK(again.has_value() && *again == *profiles, "what is written reads back");
  return 0;
}
