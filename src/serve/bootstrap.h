// What a fresh data directory gets, so that nobody creates three layers to run one script: environments `local` (the
// whole host) and `local-spot` (preemptible capacity on the same host), queues `default` and `spot`.
//
// Made through the Batch face, as a user would make them; the user may change or delete them afterwards.
#pragma once

#include <string>

#include "api/http/http.h"
#include "base/result.h"
#include "control/registry_view.h"
#include "domain/resources.h"

namespace teson {

// Refuses a data directory that has been used and whose journal is missing or empty: to begin anew there in silence
// would bury what a backup may still bring back. Call before the journal is opened, which would make the file.
Status check_journal_is_there(const std::string& data);

// Creates what is missing unless <data>/bootstrapped says that it was done once, then leaves that mark. Interrupted
// half way, the next start completes it. Environments that still carry the tag `teson:host-sized` follow the host's
// size.
Status bootstrap(const std::string& data, http::Handler& batch, const RegistryView& registry, const Resources& host);

}  // namespace teson
