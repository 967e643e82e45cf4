// The command line: parses it, talks to the server as any AWS client does, prints tables or JSON.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ports/host_probe.h"

namespace teson::cli {

struct ServeFlags {
  std::string data;    // absolute
  std::string listen;  // flag, else TESON_LISTEN, else empty: as the configuration file says
  std::string config;  // flag, else TESON_CONFIG, else empty
  bool allow_public = false;
};

// How attempts are kept apart on this machine, in words, for `teson doctor`.
struct Containment {
  bool good = false;    // memory is limited by the kernel and no process can be left behind
  std::string summary;  // "cgroup v2, pid namespace"
  std::string advice;   // what to do where it is not good
};

// What main() wires in: the parts of the program that the command line may not include.
struct Hooks {
  std::string version;
  std::function<int(const ServeFlags&)> serve;
  std::function<Result<HostFacts>()> probe_host;  // optional
  std::function<Containment()> containment;       // optional
};

// Returns the process's exit code (cli/failure.h). Changes signal handlers and the locale.
int cli_main(int argc, char** argv, const Hooks& hooks);

}  // namespace teson::cli
