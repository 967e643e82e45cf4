#include "api/logs/filter_pattern.h"

#include <fmt/format.h>

#include <algorithm>

namespace teson::logs {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::unexpected<Error> unsupported(std::string_view what) {
  return invalid(
      fmt::format("Invalid filter pattern: {} patterns are not supported here. Use terms (ERROR), "
                  "\"quoted phrases\", -excluded terms, or ?any ?of ?these.",
                  what));
}

// Takes the term at the front of `rest`: quoted, or up to the next blank.
Result<std::string> take_term(std::string_view& rest) {
  std::string term;
  if (!rest.starts_with('"')) {
    const size_t end = std::min(rest.find_first_of(kBlanks), rest.size());
    term = rest.substr(0, end);
    if (term.find('"') != std::string::npos)
      return invalid(
          fmt::format("Invalid filter pattern: a quote inside the term '{}'. Put the whole term in quotes, "
                      "with \\\" for a quote.",
                      term));
    rest.remove_prefix(end);
    return term;
  }
  for (size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '"') {
      rest.remove_prefix(i + 1);
      return term;
    }
    if (rest[i] == '\\' && i + 1 < rest.size() && (rest[i + 1] == '"' || rest[i + 1] == '\\')) ++i;
    term += rest[i];
  }
  return invalid("Invalid filter pattern: a quote is opened but never closed.");
}

}  // namespace

Result<FilterPattern> FilterPattern::parse(std::string_view text) {
  FilterPattern pattern;
  const size_t start = text.find_first_not_of(kBlanks);
  if (start == std::string_view::npos) return pattern;
  std::string_view rest = text.substr(start);
  if (rest.starts_with('{')) return unsupported("JSON ({ ... })");
  if (rest.starts_with('[')) return unsupported("space-delimited ([ ... ])");
  while (!rest.empty()) {
    std::vector<std::string>* list = &pattern.required_;
    if (rest.size() > 1 && (rest[0] == '-' || rest[0] == '?') && kBlanks.find(rest[1]) == std::string_view::npos) {
      list = rest[0] == '-' ? &pattern.excluded_ : &pattern.any_;
      rest.remove_prefix(1);
    }
    if (rest.starts_with('%')) return unsupported("regular expression (%...%)");
    auto term = take_term(rest);
    if (!term) return std::unexpected(term.error());
    // An empty phrase is in every message: "" alone is AWS's way to say "everything".
    if (!term->empty()) list->push_back(std::move(*term));
    rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
  }
  if (!pattern.required_.empty() || !pattern.excluded_.empty()) pattern.any_.clear();
  return pattern;
}

bool FilterPattern::matches(std::string_view message) const {
  const auto in_message = [&](const std::string& term) { return message.find(term) != std::string_view::npos; };
  if (!any_.empty()) return std::ranges::any_of(any_, in_message);
  return std::ranges::all_of(required_, in_message) && std::ranges::none_of(excluded_, in_message);
}

}  // namespace teson::logs
