// Which server to talk to, and with which keys.
//
// A server is found by its data directory (server.json, credentials), or named by --endpoint with keys from the
// environment. Secrets stay in Session: nothing here or above prints them, but for `teson env`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/failure.h"

namespace teson::cli {

struct GlobalOptions {
  std::string data;      // --data; empty: $TESON_DATA, else ~/.local/share/teson
  std::string endpoint;  // --endpoint; empty: what server.json says
  std::string region;    // --region; empty: server.json, environment, us-east-1
  std::string output;    // "json", "table", or empty: table
};

struct Keys {
  std::string access_key_id;
  std::string secret_access_key;
};

struct Session {
  std::string data;
  std::string endpoint;           // "http://127.0.0.1:8790", no slash at the end
  bool by_data_directory = true;  // found through server.json, so its files are on this machine
  Keys keys;
  std::string region;
};

// What a running server has left in <data>/server.json.
struct ServerFile {
  std::string endpoint;
  std::string region;
  std::string version;
  std::optional<int> pid;
};

// Absolute, without a slash at the end; need not exist.
Outcome<std::string> data_directory(const GlobalOptions& options);
// Usage failure when neither a server file nor --endpoint says where; configuration failure without keys.
Outcome<Session> open_session(const GlobalOptions& options);
// nullopt: there is none, or it is being written.
std::optional<ServerFile> read_server_file(const std::string& data);

Outcome<std::string> normalised_endpoint(std::string_view text);

// A regular file of at most 1 MiB; nothing else is waited for.
Result<std::string> read_text_file(const std::string& path);
// Empty where unset.
std::string environment_value(const char* name);

}  // namespace teson::cli
