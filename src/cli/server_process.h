// A server for a data directory, started where none is there.
#pragma once

#include "cli/client.h"
#include "cli/session.h"

namespace teson::cli {

// With --endpoint: just the session. Else a session with the server of the data directory; where none answers, `teson
// serve` is started in a session of its own, its output in <data>/server.log, and waited for (20 s at most).
// Failure: kGeneral with the end of the log when it does not come up.
Outcome<Session> ensure_server(const GlobalOptions& options);

// True when the data directory's server file is there, its process too, and it answers /healthz.
bool server_answers(const GlobalOptions& options);

}  // namespace teson::cli
