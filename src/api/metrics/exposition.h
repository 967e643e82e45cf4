// Prometheus' text exposition format, version 0.0.4: families of samples, one after another.
//
// Source: prometheus.io/docs/instrumenting/exposition_formats, "Text-based format".
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace teson::metrics {

using Label = std::pair<std::string_view, std::string_view>;

class Exposition {
 public:
  static constexpr const char* kContentType = "text/plain; version=0.0.4; charset=utf-8";

  // HELP and TYPE ("counter", "gauge", "histogram") of the family whose samples follow.
  void family(std::string_view name, std::string_view type, std::string_view help);
  void sample(std::initializer_list<Label> labels, double value);
  void sample(std::initializer_list<Label> labels, uint64_t value);
  // A histogram without labels: `counts` has one more than `bounds`, not yet added up.
  void histogram(std::span<const double> bounds, std::span<const uint64_t> counts, double sum);

  const std::string& text() const { return text_; }

 private:
  void line(std::string_view suffix, std::initializer_list<Label> labels, std::string_view value);

  std::string name_;
  std::string text_;
};

}  // namespace teson::metrics
