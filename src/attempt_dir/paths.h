// Where everything of an attempt lies: the one place that knows the names (design: "the attempt directory").
//
//   <data>/control.sock                     datagrams from agents: "look at this attempt"
//   <data>/attempts/<job>/checkpoints/      outlives the job's attempts
//   <data>/attempts/<job>/<n>/              one attempt; the names below are inside it
// where <job> is JobId::directory_name().
#pragma once

#include <string>

#include "domain/ids.h"

namespace teson {

inline constexpr const char* kSpecFile = "spec.json";        // the order; written once, before the launch
inline constexpr const char* kLockFile = "lock";             // flock held by the agent while it lives; LockRecord
inline constexpr const char* kEventsFile = "events.jsonl";   // appended by the agent
inline constexpr const char* kLogFile = "stdout.log";        // appended by the job's own descriptors
inline constexpr const char* kLogIndexFile = "stdout.idx";   // LogIndex
inline constexpr const char* kResultFile = "result.json";    // by rename, last of all
inline constexpr const char* kResultReserve = "result.new";  // preallocated, so that a full disk loses no result
inline constexpr const char* kStopFile = "stop.json";        // a stop that was asked for; first one stands
inline constexpr const char* kAgentSocket = "agent.sock";    // datagrams to the agent: pokes
inline constexpr const char* kWorkDirectory = "work";
inline constexpr const char* kControlSocket = "control.sock";  // below <data>
// The control socket as seen from inside an attempt's directory.
inline constexpr const char* kControlSocketFromAttempt = "../../../control.sock";

struct AttemptPaths {
  std::string directory;    // <data>/attempts/<job>/<n>
  std::string checkpoints;  // <data>/attempts/<job>/checkpoints

  std::string file(const char* name) const { return directory + "/" + name; }
  std::string log() const { return file(kLogFile); }
  std::string log_index() const { return file(kLogIndexFile); }
  std::string result() const { return file(kResultFile); }
  std::string events() const { return file(kEventsFile); }
};

AttemptPaths attempt_paths(const std::string& data_directory, const AttemptId& id);

// The variable that marks every process of an attempt, "TESON_ATTEMPT_ID=<job>/<n>": how leftovers are found.
inline constexpr const char* kAttemptIdVariable = "TESON_ATTEMPT_ID";
std::string attempt_marker(const AttemptId& id);

}  // namespace teson
