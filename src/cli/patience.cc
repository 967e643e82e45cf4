#include "cli/patience.h"

#include <fmt/format.h>

#include "cli/client.h"

namespace teson::cli {

bool Patience::again(const Failure& why, const Notice& notice) {
  if (since_ == Instant{}) {
    since_ = now();
    notice(fmt::format("{}; waiting for it (Ctrl-C stops following, the job goes on)", why.message));
  }
  return now() - since_ < limit_;
}

void Patience::answered(const Notice& notice) {
  if (since_ != Instant{}) notice("the server is back");
  since_ = {};
}

}  // namespace teson::cli
