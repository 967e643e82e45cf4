// Recovery: the state that a journal's contents amount to.
#pragma once

#include "core/state/state.h"
#include "ports/journal.h"

namespace teson {

// Jobs that the facts finish are gone from it: the archive has them, from the same transaction.
State replay(Site site, JournalContents contents);

}  // namespace teson
