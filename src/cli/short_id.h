// Job ids as people type them: any prefix that only one job has.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/failure.h"

namespace teson::cli {

constexpr size_t kShortIdLength = 8;

// Hexadecimal digits and dashes in the places a UUID has them, 1 to 36 characters, any case.
bool is_id_prefix(std::string_view text);
bool is_whole_id(std::string_view text);

// A child of an array is the array's id, or the beginning of one, and ":<index>".
struct ChildParts {
  std::string_view array;
  std::string_view index;  // with the colon in front; empty: no child
};
ChildParts child_parts(std::string_view text);
// ":0" to ":9999", without leading zeros, or nothing.
bool is_index_part(std::string_view index);

// "12ab34cd", "12ab34cd:17".
std::string short_form(std::string_view id);
// For each id, its shortest prefix of at least kShortIdLength characters that no other of `ids` begins with. A
// child's is its array's, with its index.
std::vector<std::string> short_ids(const std::vector<std::string>& ids);

// The one id that begins with `prefix`; usage failures name the candidates, or say that there is none.
Outcome<std::string> match_id(std::string_view prefix, const std::vector<std::string>& ids);

}  // namespace teson::cli
