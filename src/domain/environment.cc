#include "domain/environment.h"

namespace teson {

bool glob_match(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0;
  size_t star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::optional<RuntimeKind> runtime_for(const Site& site, const std::string& image) {
  for (const ImageRule& rule : site.images) {
    if (glob_match(rule.pattern, image)) return rule.runtime;
  }
  return std::nullopt;
}

}  // namespace teson
