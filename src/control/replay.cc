#include "control/replay.h"

namespace teson {

State replay(Site site, JournalContents contents) {
  State state(std::move(site), std::move(contents.snapshot));
  for (const Fact& fact : contents.facts) {
    state.apply(fact);
    state.take_finished();
  }
  return state;
}

}  // namespace teson
