// JSON bodies: parsing and every getter, on any bytes; what is accepted must survive being written and read again.
#include <cstdint>

#include "base/check.h"
#include "wire/json.h"

namespace {

using namespace teson;
using wire::JsonValue;

void read_everything(const JsonValue& object, int depth) {
  for (const auto& [key, value] : object.json().items()) {
    const char* name = key.c_str();
    (void)wire::required_string(object, name, 16);
    (void)wire::required_int(object, name, {-5, 5});
    (void)wire::optional_double(object, name);
    (void)wire::optional_bool(object, name);
    (void)wire::optional_enum(object, name, {"a", "b"});
    (void)wire::optional_string_array(object, name, 4, {1, 8});
    (void)wire::optional_string_map(object, name, {4, {1, 8}, {0, 8}});
    if (const auto inner = wire::optional_object(object, name); inner && *inner && depth > 0) {
      read_everything(**inner, depth - 1);
    }
    const auto list = wire::optional_object_array(object, name, 8);
    if (!list || depth == 0) continue;
    for (const JsonValue& element : *list) read_everything(element, depth - 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto body = wire::parse_json_object(text, {4096, 16});
  if (!body) {
    TESON_CHECK(!body.error().message.empty(), "a refusal says why");
    return 0;
  }
  read_everything(JsonValue(*body, ""), 4);
  const auto again = wire::parse_json(wire::json_text(*body));
  TESON_CHECK(again.has_value() && *again == *body, "what was accepted is written so that it reads back");
  return 0;
}
