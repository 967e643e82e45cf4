// The request parser: any bytes, in any slicing, within limits, give the same requests, and are refused alike.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "api/http/request_parser.h"
#include "base/check.h"
#include "wire/uri.h"

namespace {

using namespace teson;

struct Outcome {
  std::vector<http::Request> requests;
  bool refused = false;
  bool in_head = false;  // ended within a request's head
};

constexpr http::ParserLimits kLimits{2048, 4096};

Outcome parse(std::string_view bytes, size_t slice) {
  Outcome out;
  http::RequestParser parser(kLimits);
  std::string buffer;
  for (size_t at = 0; at < bytes.size(); at += slice) {
    buffer += bytes.substr(at, slice);
    for (bool more = true; more && !buffer.empty();) {
      const auto used = parser.put(buffer);
      if (!used) {
        TESON_CHECK(used.error().status >= 400 && used.error().status < 600, "a refusal has an error status");
        out.refused = true;
        return out;
      }
      TESON_CHECK(*used <= buffer.size(), "took more than there was");
      buffer.erase(0, *used);
      more = *used > 0;
      if (!parser.done()) continue;
      out.requests.push_back(parser.take());
      more = true;
    }
  }
  out.in_head = !parser.head_done();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Outcome whole = parse(bytes, std::max<size_t>(1, size));
  for (const http::Request& request : whole.requests) {
    TESON_CHECK(request.body.size() <= kLimits.body_bytes, "the body's limit holds");
    TESON_CHECK(request.path.starts_with('/'), "a path starts with '/'");
    TESON_CHECK(wire::percent_decode(request.path).has_value(), "the path decodes");
  }
  const Outcome sliced = parse(bytes, 1 + size % 7);
  // A bad head that is not all there may be refused at once or when its end arrives.
  TESON_CHECK(sliced.refused == whole.refused || sliced.in_head || whole.in_head, "slicing changes nothing");
  TESON_CHECK(sliced.requests.size() == whole.requests.size(), "slicing changes nothing");
  for (size_t i = 0; i < whole.requests.size(); ++i) {
    TESON_CHECK(sliced.requests[i].path == whole.requests[i].path, "slicing changes nothing");
    TESON_CHECK(sliced.requests[i].body == whole.requests[i].body, "slicing changes nothing");
    TESON_CHECK(sliced.requests[i].headers.size() == whole.requests[i].headers.size(), "slicing changes nothing");
  }
  return 0;
}
