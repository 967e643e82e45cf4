// `teson_test_agent agent DIR [LOCK_FD]`: what the launcher's and the agent's tests spawn in place of the whole
// program.
#include <cstring>

#include "agent/agent.h"

int main(int argc, char** argv) {
  if (argc < 2 || std::strcmp(argv[1], "agent") != 0) return 2;
  return teson::agent_command(argc - 2, argv + 2);
}
