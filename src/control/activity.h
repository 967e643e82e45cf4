// What the loop has done since it started, for /metrics. Counts only what was committed.
//
// Thread: the loop's.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "domain/fact.h"

namespace teson {

struct Activity {
  static constexpr size_t kCauses = 6;  // EndCause

  uint64_t facts = 0;
  uint64_t jobs_submitted = 0;
  uint64_t attempts_started = 0;
  std::array<uint64_t, kCauses> attempts_ended{};  // by EndCause

  void note(std::span<const Fact> committed) {
    facts += committed.size();
    for (const Fact& fact : committed) {
      if (const auto* ended = std::get_if<fact::AttemptEnded>(&fact.body)) {
        ++attempts_ended[static_cast<size_t>(ended->end.cause)];
      } else if (std::holds_alternative<fact::AttemptStarted>(fact.body)) {
        ++attempts_started;
      } else if (std::holds_alternative<fact::JobSubmitted>(fact.body)) {
        ++jobs_submitted;
      }
    }
  }
};

}  // namespace teson
