#include "api/metrics/exposition.h"

#include <fmt/format.h>

namespace teson::metrics {
namespace {

std::string escaped(std::string_view text, bool quotes) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

void Exposition::family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, escaped(help, false), name, type);
}

void Exposition::sample(std::initializer_list<Label> labels, double value) {
  line("", labels, fmt::format("{}", value));
}

void Exposition::sample(std::initializer_list<Label> labels, uint64_t value) {
  line("", labels, fmt::format("{}", value));
}

void Exposition::histogram(std::span<const double> bounds, std::span<const uint64_t> counts, double sum) {
  uint64_t total = 0;
  for (size_t i = 0; i < bounds.size(); ++i) {
    total += counts[i];
    line("_bucket", {{"le", fmt::format("{}", bounds[i])}}, fmt::format("{}", total));
  }
  total += counts[bounds.size()];
  line("_bucket", {{"le", "+Inf"}}, fmt::format("{}", total));
  line("_sum", {}, fmt::format("{}", sum));
  line("_count", {}, fmt::format("{}", total));
}

void Exposition::line(std::string_view suffix, std::initializer_list<Label> labels, std::string_view value) {
  text_ += name_;
  text_ += suffix;
  const char* before = "{";
  for (const auto& [name, label] : labels) {
    text_ += fmt::format("{}{}=\"{}\"", before, name, escaped(label, true));
    before = ",";
  }
  if (labels.size() > 0) text_ += '}';
  text_ += fmt::format(" {}\n", value);
}

}  // namespace teson::metrics
