// <data>/server.json: where the running server answers, for the command line and for scripts.
#pragma once

#include <string>

#include "base/result.h"

namespace teson {

// {"endpoint": "http://127.0.0.1:8790", "pid": 17, "region": "us-east-1", "version": "0.1.0"}, by rename: a reader sees
// it whole or not at all.
Status write_server_file(const std::string& data, const std::string& endpoint, const std::string& region,
                         const std::string& version);
void remove_server_file(const std::string& data);

}  // namespace teson
