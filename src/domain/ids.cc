#include "domain/ids.h"

#include <fmt/format.h>

namespace teson {

std::optional<JobId> JobId::parse(std::string_view text) {
  const auto uuid = Uuid::parse(text);
  if (!uuid) return std::nullopt;
  return JobId{*uuid};
}

std::string AttemptId::text() const { return fmt::format("{}/{}", job.text(), number); }

std::string InstanceId::text() const { return fmt::format("i-{:017x}", value); }

}  // namespace teson
