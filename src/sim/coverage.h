// What a run has met: each kind of fault and of transition, counted. A zero after a long run is suspicious: the
// simulator has stopped trying something.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace teson::sim {

enum class Met {
  // Faults.
  kCrash,
  kCrashBeforeCommit,
  kCrashAfterCommit,
  kCrashAmongReplies,
  kCrashAmongEffects,
  kCrashInRecovery,
  kHostReboot,
  kClockSetBack,
  kClockSetForward,
  kJournalRefused,
  kJournalFailedUnkept,
  kJournalFailedKept,
  kJournalUnreadable,
  kSnapshotTaken,
  kJsonRoundTrip,
  kLaunchLost,
  kLaunchDelayed,
  kLaunchDelayedPastCrash,
  kLaunchRepeated,
  kLaunchBehind,
  kStopLost,
  kReportLost,
  kReportDoubled,
  kReportDelayed,
  kReportRepeatedBySweep,
  kAgentDied,
  kOrphanKilled,
  kExecFailed,
  kOutOfMemory,
  kTimedOut,
  kSigtermIgnored,
  kStartsHeld,
  // What clients saw.
  kCommandAccepted,
  kCommandRejected,
  kCommandUnavailable,
  kCommandUnanswered,
  kSubmitRepeatedLive,
  kSubmitRepeatedEnded,
  kSubmitRepeatedAgain,
  kUnknownDependency,
  // What was committed.
  kEnvironmentPut,
  kEnvironmentDeleted,
  kQueuePut,
  kQueueDeleted,
  kDefinitionPut,
  kJobSubmitted,
  kJobTagged,
  kJobReady,
  kInstanceStarted,
  kInstanceEnded,
  kAttemptPlaced,
  kAttemptStarted,
  kAttemptRetried,
  kAttemptSucceeded,
  kAttemptFailed,
  kStopRequested,
  kJobFailed,
  kChildrenFailed,
  kPolicyPut,
  kPolicyDeleted,
  kConsumablePut,
  kConsumableDeleted,
  kInstanceInterrupted,
  kInstancePreempted,
  kFoundUnknown,
  kFoundAlive,
  kFoundEnded,
  kFoundLost,
  kHeldAtTheEnd,
  kCount,
};

const char* name_of(Met met);

class Coverage {
 public:
  void met(Met what) { ++counts_[static_cast<size_t>(what)]; }
  uint64_t count(Met what) const { return counts_[static_cast<size_t>(what)]; }
  void add(const Coverage& other);
  // A line for each kind, in the order above.
  std::string table() const;
  std::vector<Met> never() const;

 private:
  std::array<uint64_t, static_cast<size_t>(Met::kCount)> counts_{};
};

}  // namespace teson::sim
