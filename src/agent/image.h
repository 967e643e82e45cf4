// The agent's own executable, carried inside teson: still one file to install, but an attempt does not wait for the
// dynamic loader to bring in what only the server needs (about 10 ms of 14), nor keep it in memory.
#pragma once

#include <span>

namespace teson {

// A static ELF program that takes the words `agent DIR [LOCK_FD]` or `agent-nursery`. Empty in builds that cannot make
// one (sanitizers): then teson itself is the agent.
std::span<const unsigned char> agent_image();

}  // namespace teson
