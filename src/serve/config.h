// The configuration file: YAML, every key optional, an unknown key refused. docs/configuration.md is its reference.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/launch_local/local_launcher.h"
#include "base/result.h"
#include "base/time.h"
#include "domain/environment.h"
#include "serve/accounts.h"

namespace teson {

struct Config {
  std::string listen = "127.0.0.1:8790";
  std::string tls_certificate;  // both or neither
  std::string tls_key;
  std::string region = "us-east-1";
  std::string account_id = "123456789012";
  std::string log_level = "info";

  // What teson may use of the host; unset: all that is usable.
  std::optional<int64_t> host_milli_vcpus;
  std::optional<int64_t> host_memory_mib;
  std::optional<int64_t> host_gpus;

  std::vector<ImageRule> images;  // before the built-in rule that "host" is a process
  Duration instance_idle = Duration::seconds(60);
  KeepWork keep_work = KeepWork::kAll;
  bool interruptions_use_attempts = true;
  bool preemption = true;            // on-demand jobs may interrupt spot ones
  int64_t disk_reserve_mib = 256;    // below this nothing new starts
  bool metrics_without_key = false;  // /metrics is answered to whoever reaches the server
  AccountSettings accounts;
  std::string catalogue;  // CSV file that replaces the built-in one
};

// Errors name the line, the key, the value and what would be right.
Result<Config> parse_config(std::string_view yaml);
Result<Config> load_config(const std::string& path);

// "127.0.0.1:8790", "[::1]:8790", "localhost:0".
struct ListenAddress {
  std::string host;
  uint16_t port = 0;
  bool loopback = false;
};
Result<ListenAddress> parse_listen(std::string_view text);

}  // namespace teson
