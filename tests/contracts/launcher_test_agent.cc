// `teson_test_agent agent DIR [LOCK_FD]` or `agent-nursery`: what the launcher's and the agent's tests run in place
// of the whole program.
#include "agent/agent.h"

int main(int argc, char** argv) { return teson::agent_entry(argc, argv).value_or(2); }
