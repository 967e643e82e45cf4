// The agent as a program of its own, linked statically and embedded in teson (image.h). Not .cc: it is no part of the
// agent's library.
#include "agent/agent.h"

int main(int argc, char** argv) { return teson::agent_entry(argc, argv).value_or(2); }
