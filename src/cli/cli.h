// The command line: parses it, talks to the server as any AWS client does, prints tables or JSON.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ports/host_probe.h"

namespace teson::cli {

struct ServeFlags {
  std::string data;             // absolute
  std::string listen;           // flag, else TESON_LISTEN, else empty: as the configuration file says
  std::string config;           // flag, else TESON_CONFIG, else empty
  std::string tls_certificate;  // empty: as the configuration file says
  std::string tls_key;
  bool allow_public = false;
};

// What attempts on this machine are limited by, as an agent would find it; for `teson doctor`.
struct CgroupFacts {
  bool memory = false;
  bool cpu = false;
  bool pids = false;
  bool kill = false;
  std::vector<std::string> directories;  // where groups are made
  std::string note;                      // what is missing and why
};

// What main() wires in: the parts of the program that the command line may not include.
struct Hooks {
  std::string version;
  std::function<int(const ServeFlags&)> serve;
  std::function<Result<HostFacts>()> probe_host;  // optional
  std::function<CgroupFacts()> cgroups;           // optional
};

// Returns the process's exit code (cli/failure.h). Changes signal handlers and the locale.
int cli_main(int argc, char** argv, const Hooks& hooks);

}  // namespace teson::cli
