#include "cli/short_id.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "cli/text.h"
#include "domain/ids.h"

namespace teson::cli {
namespace {

constexpr size_t kUuidLength = 36;

std::string lower(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

size_t common_prefix(std::string_view a, std::string_view b) {
  const auto [end, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<size_t>(end - a.begin());
}

}  // namespace

bool is_id_prefix(std::string_view text) {
  if (text.empty() || text.size() > kUuidLength) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !std::isxdigit(static_cast<unsigned char>(text[i]))) return false;
  }
  return true;
}

bool is_whole_id(std::string_view text) { return text.size() == kUuidLength && is_id_prefix(text); }

ChildParts child_parts(std::string_view text) {
  const size_t colon = std::min(text.find(':'), text.size());
  return {text.substr(0, colon), text.substr(colon)};
}

bool is_index_part(std::string_view index) {
  if (index.empty()) return true;
  return JobId::parse(Uuid{}.text() + std::string(index)).has_value();
}

std::string short_form(std::string_view id) {
  const auto [array, index] = child_parts(id);
  return std::string(array.substr(0, kShortIdLength)) + std::string(index);
}

std::vector<std::string> short_ids(const std::vector<std::string>& ids) {
  // In sorted order an id shares its longest prefix with a neighbour.
  std::vector<std::string> sorted;
  for (const std::string& id : ids) sorted.emplace_back(child_parts(id).array);
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::map<std::string, size_t> lengths;
  for (size_t i = 0; i < sorted.size(); ++i) {
    size_t shared = 0;
    if (i > 0) shared = std::max(shared, common_prefix(sorted[i], sorted[i - 1]));
    if (i + 1 < sorted.size()) shared = std::max(shared, common_prefix(sorted[i], sorted[i + 1]));
    lengths[sorted[i]] = std::max(kShortIdLength, shared + 1);
  }
  std::vector<std::string> out;
  for (const std::string& id : ids) {
    const auto [array, index] = child_parts(id);
    out.push_back(id.substr(0, lengths[std::string(array)]) + std::string(index));
  }
  return out;
}

Outcome<std::string> match_id(std::string_view prefix, const std::vector<std::string>& ids) {
  const std::string wanted = lower(prefix);
  std::vector<std::string> matches;
  for (const std::string& id : ids) {
    if (id.starts_with(wanted) && std::find(matches.begin(), matches.end(), id) == matches.end()) matches.push_back(id);
  }
  if (matches.size() == 1) return matches.front();
  if (matches.empty()) {
    return usage(
        fmt::format("no job has an id that begins with '{}'; 'teson jobs --all' lists them", printable(prefix)));
  }
  constexpr size_t kShown = 5;
  std::string some;
  for (size_t i = 0; i < std::min(kShown, matches.size()); ++i) some += (i == 0 ? "" : ", ") + matches[i];
  return usage(fmt::format("'{}' begins the ids of {} jobs ({}{}); give more of it", printable(prefix), matches.size(),
                           some, matches.size() > kShown ? ", ..." : ""));
}

}  // namespace teson::cli
