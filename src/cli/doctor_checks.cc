#include "cli/doctor_checks.h"

#include <fmt/format.h>

#include "cli/text.h"
#include "cli/units.h"
#include "domain/resources.h"

namespace teson::cli {
namespace {

constexpr int64_t kGiB = 1LL << 30;
// Below the first the server holds new starts sooner or later; below the second SQLite's own work is at risk.
constexpr int64_t kLittleDisk = 5 * kGiB;
constexpr int64_t kTooLittleDisk = kGiB / 2;
// Signatures are good for 15 minutes either way; half a minute is what an unsynchronised clock drifts in weeks.
constexpr Duration kSignatureSkew = Duration::seconds(15 * 60);
constexpr Duration kNoticeableSkew = Duration::seconds(30);

}  // namespace

const char* level_name(Level level) {
  switch (level) {
    case Level::kOk:
      return "ok";
    case Level::kWarn:
      return "warn";
    case Level::kFail:
      break;
  }
  return "fail";
}

Finding judge_data_directory(const DirectoryFacts& facts) {
  const std::string name = "data directory";
  if (!facts.exists) {
    return {Level::kWarn, name, facts.path + " is not there yet",
            fmt::format("'teson serve --data {}' makes it", shell_command({facts.path}))};
  }
  if (!facts.is_directory)
    return {Level::kFail, name, facts.path + " is not a directory", "give another one with --data DIR"};
  if (!facts.writable) {
    return {Level::kFail, name, facts.path + " cannot be written by this user",
            "give another one with --data DIR, or have its owner run the server and use --endpoint"};
  }
  if ((facts.mode & 022) != 0) {
    return {Level::kWarn, name, fmt::format("{} can be written by other users (mode {:04o})", facts.path, facts.mode),
            fmt::format("chmod go-w {}", shell_command({facts.path}))};
  }
  return {Level::kOk, name, facts.path, ""};
}

Finding judge_credentials(const std::string& path, std::optional<unsigned> mode) {
  if (!mode) return {Level::kWarn, "keys", path + " is not there yet", "the server makes it on its first start"};
  if ((*mode & 077) != 0) {
    return {Level::kFail, "keys", fmt::format("{} can be read by other users (mode {:04o})", path, *mode),
            fmt::format("chmod 600 {}", shell_command({path}))};
  }
  return {Level::kOk, "keys", path, ""};
}

Finding judge_free_disk(const std::string& path, int64_t free_bytes) {
  const std::string text = fmt::format("{} free at {}", bytes_text(free_bytes), path);
  if (free_bytes >= kLittleDisk) return {Level::kOk, "free disk", text, ""};
  return {
      free_bytes < kTooLittleDisk ? Level::kFail : Level::kWarn, "free disk", text,
      fmt::format("free some space, or move the data directory; {} is a comfortable start", bytes_text(kLittleDisk))};
}

Finding judge_clock(Duration difference) {
  const Duration size = difference.micros < 0 ? Duration{-difference.micros} : difference;
  // The Date header has whole seconds.
  if (size < Duration::seconds(2)) return {Level::kOk, "clock", "agrees with the server's", ""};
  const std::string text =
      fmt::format("{} {} the server's", duration_text(size), difference.micros > 0 ? "behind" : "ahead of");
  if (size < kNoticeableSkew) return {Level::kOk, "clock", text, ""};
  return {size < kSignatureSkew ? Level::kWarn : Level::kFail, "clock", text,
          "synchronise both clocks (chrony, systemd-timesyncd); signed requests are refused from 15 minutes on"};
}

Finding judge_versions(const std::string& ours, const std::string& servers, const std::string& endpoint) {
  if (servers.empty() || servers == ours) {
    return {Level::kOk, "server",
            fmt::format("answers at {}{}", endpoint, servers.empty() ? "" : ", version " + servers), ""};
  }
  return {Level::kWarn, "server", fmt::format("{} runs version {}, this is {}", endpoint, printable(servers), ours),
          "restart the server with this version; running jobs go on meanwhile"};
}

Finding judge_cgroups(const CgroupFacts& facts) {
  std::string has, lacks;
  const auto sort = [&](bool there, const char* what) {
    std::string& list = there ? has : lacks;
    list += (list.empty() ? "" : ", ") + std::string(what);
  };
  sort(facts.memory, "memory limit");
  sort(facts.cpu, "CPU shares");
  sort(facts.pids, "process count");
  std::string text = has.empty() ? "none" : has;
  if (!has.empty() && !facts.directories.empty()) text += " in " + facts.directories.front();
  if (lacks.empty()) return {Level::kOk, "cgroups", text, ""};
  const std::string why = facts.note.empty() ? "" : " (" + facts.note + ")";
  return {Level::kWarn, "cgroups", text,
          fmt::format("not enforced: {}{}; run the server as root or under systemd with Delegate=yes", lacks, why)};
}

Finding judge_pid_namespace(bool permitted) {
  if (permitted) return {Level::kOk, "pid namespace", "each attempt has its own", ""};
  return {Level::kWarn, "pid namespace", "not permitted: attempts see each other's processes",
          "run the server as root (in a container: with CAP_SYS_ADMIN) where that matters"};
}

std::vector<Finding> judge_host(const Result<HostFacts>& facts) {
  if (!facts) return {{Level::kFail, "host", facts.error().message, "jobs cannot be placed until this is readable"}};
  std::vector<Finding> findings;
  const std::string size = fmt::format("{} vCPU, {} MiB of {} MiB memory usable", vcpus_text(facts->milli_vcpus),
                                       facts->usable_memory_mib, facts->total_memory_mib);
  findings.push_back({Level::kOk, "host", size, ""});
  if (facts->gpus.empty()) {
    findings.push_back({Level::kOk, "GPUs", facts->gpu_note.empty() ? "none" : "none: " + facts->gpu_note, ""});
  }
  for (const Gpu& gpu : facts->gpus) {
    findings.push_back(
        {Level::kOk, fmt::format("GPU {}", gpu.index), fmt::format("{}, {} MiB", gpu.name, gpu.memory_mib), ""});
  }
  return findings;
}

Finding judge_clients(const std::string& aws_path, const std::string& boto3) {
  if (aws_path.empty() && boto3.empty()) {
    return {Level::kWarn, "AWS clients", "neither the AWS CLI nor boto3 is installed",
            "apt install awscli python3-boto3, where other clients than teson are wanted"};
  }
  std::string text = aws_path.empty() ? "" : aws_path;
  if (!boto3.empty()) text += fmt::format("{}boto3 {}", text.empty() ? "" : ", ", printable(boto3));
  return {Level::kOk, "AWS clients", text, ""};
}

}  // namespace teson::cli
