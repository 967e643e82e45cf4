// The server: puts the control loop, the adapters and the HTTP faces together and runs until told to stop.
#pragma once

#include <string>

namespace teson {

struct ServeOptions {
  std::string data;                  // the data directory, absolute
  std::string listen;                // "address:port"; empty: as the configuration says, else the default
  std::string config;                // configuration file; empty: none
  std::string missing_limits;        // what this machine does not let attempts be limited in, and why; empty: nothing
  std::string tls_certificate = {};  // both or neither; empty: as the configuration says
  std::string tls_key = {};
  bool allow_public = false;  // permits an address that other machines can reach, though there is no TLS
};

// Blocks until SIGTERM, SIGINT, or, without TLS, SIGHUP; with TLS this reads certificate and key again. Returns the
// process's exit code; failures are said on stderr.
int serve(const ServeOptions& options);

}  // namespace teson
