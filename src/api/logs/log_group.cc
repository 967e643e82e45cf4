#include "api/logs/log_group.h"

#include "base/try.h"

namespace teson::logs {

Result<std::vector<StreamInfo>> all_streams(const LogGroup& group, const std::string& prefix) {
  constexpr int kPage = 1'000;
  std::vector<StreamInfo> streams;
  for (;;) {
    TESON_TRY(auto page, group.list(prefix, streams.empty() ? "" : streams.back().name, kPage));
    const bool more = page.size() == kPage;
    for (StreamInfo& stream : page) streams.push_back(std::move(stream));
    if (!more) return streams;
  }
}

}  // namespace teson::logs
