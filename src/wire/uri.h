// Percent-encoding, query strings and paths (RFC 3986) as AWS's protocols use them. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace teson::wire {

// Everything but A-Z a-z 0-9 - . _ ~ becomes %XX in upper case; with keep_slash also '/' stays.
std::string percent_encode(std::string_view text, bool keep_slash = false);
// A '%' without two hexadecimal digits is refused. '+' stays '+'.
Result<std::string> percent_decode(std::string_view text);

struct QueryParameter {
  std::string name;
  std::string value;  // empty for "name" and "name=" alike

  bool operator==(const QueryParameter&) const = default;
};

// In the order given, decoded; '+' is a space, as HTML forms and botocore write it. Empty pieces are dropped.
Result<std::vector<QueryParameter>> parse_query(std::string_view query);

// Resolves "." and ".." and doubled slashes ("/a/./b//../c/" gives "/a/c/"); always starts with '/'.
std::string normalize_path(std::string_view path);

}  // namespace teson::wire
