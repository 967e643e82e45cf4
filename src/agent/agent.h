// `teson agent DIR [LOCK_FD]`: runs one attempt from its directory and outlives the control plane.
//
// Entered before anything else of the program is set up: one thread, no logging library, a few hundred KiB of its own.
// It holds the attempt's lock until the result is on disk, whatever happens. See README.md for the life of an agent.
#pragma once

#include <optional>
#include <string>

namespace teson {

// `lock_fd` is the inherited descriptor of DIR/lock, already locked by the launcher; -1: open and lock it here.
// Returns the exit status of the process: 0 once a result is written, 2 for bad use (nothing was started), 3 if another
// agent holds the lock.
int agent_main(const std::string& directory, int lock_fd);

// Closes all that was inherited but the standard streams and `kept` (-1: nothing more). An agent outlives the server: a
// listener of the server's would keep its port, a connection its client waiting.
void close_all_but(int kept);

// What a program that carries the agent does before anything else: the exit status of `agent DIR [LOCK_FD]` and
// `agent-nursery LINK_FD [ROOM]` (nursery.h); nullopt: the command line asks for neither.
std::optional<int> agent_entry(int argc, char** argv);

}  // namespace teson
