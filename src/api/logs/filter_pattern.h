// CloudWatch's filter patterns for unstructured text: `ERROR timeout`, `"exact phrase"`, `-debug`, `?warn ?error`.
// Source: AWS's "Filter pattern syntax for metric filters, subscription filters, and filter log events".
//
// Pure; any thread. Terms are case-sensitive and found anywhere in the message. Patterns for JSON ({ ... }),
// space-delimited ([ ... ]) and regular expressions (% ... %) are refused, never taken as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace teson::logs {

class FilterPattern {
 public:
  // An empty pattern matches everything. kInvalid says what is not understood.
  static Result<FilterPattern> parse(std::string_view text);

  // All plain terms are there and no excluded one; with ?terms alone, any of them is. As on AWS, ?terms count for
  // nothing beside others.
  bool matches(std::string_view message) const;
  bool matches_everything() const { return required_.empty() && excluded_.empty() && any_.empty(); }

 private:
  std::vector<std::string> required_;
  std::vector<std::string> excluded_;
  std::vector<std::string> any_;
};

}  // namespace teson::logs
