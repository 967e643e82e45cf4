// The agent as a program of its own, linked statically and embedded in teson (image.h). Not .cc: it is no part of the
// agent's library.
#include <cstring>

#include "agent/agent.h"

int main(int argc, char** argv) {
  if (argc < 2 || std::strcmp(argv[1], "agent") != 0) return 2;
  return teson::agent_command(argc - 2, argv + 2);
}
