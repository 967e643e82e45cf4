#include "domain/ids.h"

#include <fmt/format.h>

#include <charconv>

namespace teson {

namespace {

// One way to write each id: no sign, no leading zeros.
std::optional<int32_t> parse_index(std::string_view text) {
  int32_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || index < 0 || index > JobId::kLargestIndex || (text.front() == '0' && text.size() > 1)) {
    return std::nullopt;
  }
  return index;
}

std::optional<JobId> parse_with(char separator, std::string_view text) {
  const size_t at = text.find(separator);
  const auto uuid = Uuid::parse(text.substr(0, at));
  if (!uuid) return std::nullopt;
  if (at == std::string_view::npos) return JobId{*uuid};
  const auto index = parse_index(text.substr(at + 1));
  return index ? std::optional(JobId{*uuid, *index}) : std::nullopt;
}

std::string text_with(char separator, const JobId& id) {
  return id.is_child() ? id.uuid.text() + separator + std::to_string(id.index) : id.uuid.text();
}

}  // namespace

std::string JobId::text() const { return text_with(':', *this); }
std::optional<JobId> JobId::parse(std::string_view text) { return parse_with(':', text); }

std::string JobId::directory_name() const { return text_with('.', *this); }
std::optional<JobId> JobId::parse_directory_name(std::string_view name) { return parse_with('.', name); }

std::string AttemptId::text() const { return fmt::format("{}/{}", job.text(), number); }

std::string InstanceId::text() const { return fmt::format("i-{:017x}", value); }
std::optional<InstanceId> InstanceId::parse(std::string_view text) {
  InstanceId id;
  constexpr size_t kLength = 19;
  if (text.size() != kLength || !text.starts_with("i-")) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + kLength, id.value, 16);
  // Not everything that can be read is what it is written as.
  if (error != std::errc() || end != text.data() + kLength || id.text() != text) return std::nullopt;
  return id;
}

}  // namespace teson
