// What goes to an agent, and what comes back from it. Values only; attempt_dir/ has their files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "domain/environment.h"
#include "domain/ids.h"
#include "domain/job.h"

namespace teson {

// Whose rights a program has. Looked up by the server, since the agent may not ask the name service.
struct UnixAccount {
  std::string name;
  uint32_t uid = 0;
  uint32_t gid = 0;
  std::vector<uint32_t> groups;  // all of them, `gid` included
  std::string home;

  bool operator==(const UnixAccount&) const = default;
};

// Everything an agent needs to run one attempt. Written once as spec.json, never changed.
struct LaunchOrder {
  AttemptId id;
  std::string job_name;
  RuntimeKind runtime = RuntimeKind::kProcess;
  std::string image;
  std::vector<std::string> command;
  EnvironmentVariables environment;  // complete but for what only the agent knows (paths, HOME, PATH)
  Resources limits;
  std::vector<int> gpus;
  std::optional<Duration> timeout;
  Duration grace = Duration::seconds(30);
  std::string working_directory;  // empty: the attempt's own fresh work/
  std::string log_stream;
  // Starts once nothing of this attempt is left, and then at once.
  std::optional<AttemptId> after;
  std::string owner = {};  // whose job it is (domain/user.h); empty: the first user
  // Nothing: the agent's own rights. Filled in by the launcher, at the launch.
  std::optional<UnixAccount> account = std::nullopt;
};

struct AttemptStartedReport {
  Instant at;
};
struct AttemptEndedReport {
  AttemptEnd end;
};
// Its agent is gone and left no result; whatever it had started has been killed.
struct AttemptLostReport {
  Instant at;
  std::string detail;  // evidence for a person: "agent (pid 17) is gone", "the host was rebooted"
};
using ReportBody = std::variant<AttemptStartedReport, AttemptEndedReport, AttemptLostReport>;

struct AttemptReport {
  AttemptId id;
  ReportBody body;
};

}  // namespace teson
