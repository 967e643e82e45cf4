// The documents of `teson apply`: any text ends, within the limits, and what is wrong is told with its place.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "cli/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace teson;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto read = cli::read_manifest({{"f", text}});
  if (!read) {
    TESON_CHECK(read.error().message.starts_with("f:"), "a mistake has its place");
    return 0;
  }
  for (const cli::ManifestDocument& document : *read) {
    TESON_CHECK(!document.name.empty() && document.request.is_object(), "a document has a name and a request");
    TESON_CHECK(document.place.line >= 1 && document.place.column >= 1, "places count from 1");
  }
  return 0;
}
