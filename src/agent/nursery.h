// `teson agent-nursery LINK_FD [ROOM]`: forks agents for one server, so that none of them is executed.
//
// Executing a program costs more than all that an agent does for a small task. The nursery is executed once, from the
// same image, and does nothing but fork: an agent starts from a clean single-threaded process with default signals. It
// keeps nothing of an attempt: the lock's descriptor is closed as soon as the agent has it. Agents are siblings of the
// nursery, not children (CLONE_PARENT): the server reaps them as if it had spawned them, and the nursery's death is
// nothing to them. It ends when its server does, by the link's hang-up, after what was asked before.
//
// ROOM is an argument of any text: its space takes the words that an agent shows in the process list.
#pragma once

namespace teson {

// The words after "agent-nursery". Returns the exit status; forked agents never return.
int nursery_command(int argc, char** argv);

}  // namespace teson
