// Waiting for a server that went away while it was followed.
#pragma once

#include <functional>
#include <string_view>

#include "base/time.h"
#include "cli/failure.h"

namespace teson::cli {

// How long a server may be away.
constexpr Duration kPatience = Duration::seconds(300);

class Patience {
 public:
  using Notice = std::function<void(std::string_view)>;
  explicit Patience(Duration limit) : limit_(limit) {}

  // False when it has been away for too long.
  bool again(const Failure& why, const Notice& notice);
  void answered(const Notice& notice);

 private:
  Duration limit_;
  Instant since_;
};

}  // namespace teson::cli
