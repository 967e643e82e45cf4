// `teson_test_agent agent DIR [LOCK_FD]` or `agent-nursery`: what the launcher's and the agent's tests run in place
// of the whole program. TESON_TEST_NURSERY = dies-before-fork | dies-after-fork: a nursery that dies at the first
// request, at just that moment.
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "agent/agent.h"
#include "agent/process_tree.h"
#include "attempt_dir/nursery_link.h"

static int die_at_request(int link, bool fork_first) {
  using namespace teson;
  char directory[kLongestNurseryRequest];
  Passed request = take_passed(link, directory, sizeof directory);
  OwnedFd process;
  if (request.size > 0 && fork_first && fork_sibling(process) == 0) {
    ::close(link);
    ::_exit(agent_main({directory, static_cast<size_t>(request.size)}, request.descriptor.release()));
  }
  ::_exit(9);
}

int main(int argc, char** argv) {
  const char* fault = std::getenv("TESON_TEST_NURSERY");
  if (fault && argc > 2 && std::string_view(argv[1]) == "agent-nursery") {
    return die_at_request(std::atoi(argv[2]), std::string_view(fault) == "dies-after-fork");
  }
  return teson::agent_entry(argc, argv).value_or(2);
}
