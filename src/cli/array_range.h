// The children of an array as people write them: "0-99", "0-99%8".
//
// Source: Slurm's --array and its %N, which many know; that indexes begin with 0 is AWS Batch's rule.
#pragma once

#include <string_view>

#include "base/result.h"

namespace teson::cli {

struct ArrayRange {
  int size = 0;      // children, indexes 0 to size - 1
  int throttle = 0;  // at most so many at once; 0: no limit
};

// Refuses what Batch could not carry out, and says what would be right.
Result<ArrayRange> parse_array_range(std::string_view text);
// "8"; 0 is no limit.
Result<int> parse_throttle(std::string_view text);

}  // namespace teson::cli
