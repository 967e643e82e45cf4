// What `teson doctor` looks at: each finding says how it stands and, where it is not well, what to do.
//
// The judging functions are pure; gathering is in commands/doctor.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/cli.h"

namespace teson::cli {

enum class Level { kOk, kWarn, kFail };
const char* level_name(Level level);  // "ok", "warn", "fail"

struct Finding {
  Level level = Level::kOk;
  std::string name;    // "free disk"
  std::string text;    // what is
  std::string advice;  // what to do; empty when it is well
};

struct DirectoryFacts {
  std::string path;
  bool exists = false;
  bool is_directory = false;
  bool writable = false;
  unsigned mode = 0;  // permission bits
};
Finding judge_data_directory(const DirectoryFacts& facts);
// `mode`: nothing where the file is not there.
Finding judge_credentials(const std::string& path, std::optional<unsigned> mode);
Finding judge_free_disk(const std::string& path, int64_t free_bytes);
// `difference`: the server's clock less ours.
Finding judge_clock(Duration difference);
Finding judge_versions(const std::string& ours, const std::string& servers, const std::string& endpoint);
Finding judge_cgroups(const CgroupFacts& facts);
Finding judge_pid_namespace(bool permitted);
std::vector<Finding> judge_host(const Result<HostFacts>& facts);
// `aws_path`: where the AWS CLI is, empty if nowhere; `boto3`: its version, empty if python3 has none.
Finding judge_clients(const std::string& aws_path, const std::string& boto3);

}  // namespace teson::cli
