#include "serve/server_file.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

namespace teson {

Status write_server_file(const std::string& data, const std::string& endpoint, const std::string& region,
                         const std::string& version) {
  const std::string path = data + "/server.json";
  const std::string temporary = path + ".new";
  std::ofstream file(temporary, std::ios::trunc);
  const nlohmann::json body{{"endpoint", endpoint}, {"pid", getpid()}, {"region", region}, {"version", version}};
  file << body.dump() << '\n';
  file.close();
  if (!file) return errno_error("write " + temporary);
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return errno_error("rename " + temporary);
  return {};
}

void remove_server_file(const std::string& data) { unlink((data + "/server.json").c_str()); }

}  // namespace teson
