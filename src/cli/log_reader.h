// A job's log through CloudWatch Logs' GetLogEvents: every line, in order, attempt after attempt.
//
// A stream is read to its end only after the server has said that its attempt is over, so nothing written before the
// end is missed, an unterminated last line included.
//
// A log that the server refuses to read (its job may have put something else in the file's place), or that cannot be
// read for longer than a server may be away, is left behind with a notice: the job itself and its other attempts go on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cli/client.h"
#include "cli/jobs.h"
#include "cli/patience.h"

namespace teson::cli {

struct LogEvent {
  int attempt = 0;
  Instant at;
  std::string_view message;  // one line, without its end
};

struct LogSink {
  std::function<void(const LogEvent&)> line;
  // Everything that was there has been given to line(): a good moment to flush.
  std::function<void()> caught_up;
  // Before the first line of an attempt, and for an attempt that never ran.
  std::function<void(const AttemptView&)> attempt;
  // What a person should know while waiting: "the server does not answer; waiting for it".
  std::function<void(std::string_view)> notice;
};

struct LogSelection {
  std::optional<int> attempt;   // this one alone
  std::optional<int64_t> tail;  // only the last so many lines of the last (or given) attempt that there is at first
};

struct LogEnd {
  JobView job;
  bool complete = true;      // false: an attempt's log was left behind unread
  bool interrupted = false;  // Ctrl-C (cli/interrupt.h); the job goes on
};

// What there is now. Usage failure for an array: its children have the logs.
Outcome<LogEnd> read_log(Client& client, const std::string& job_id, const LogSelection& selection, const LogSink& sink);

struct FollowHooks {
  // Finds the server again after it was away: it may be back under another address.
  std::function<Outcome<Session>()> reopen;
  // Asked at Ctrl-C whether to go on; absent: following ends.
  std::function<Outcome<bool>(Client&)> go_on_when_interrupted;
  Duration patience = kPatience;
};
// Until the job (or the selected attempt) has ended and everything has been read.
Outcome<LogEnd> follow_log(Client& client, const std::string& job_id, const LogSelection& selection,
                           const LogSink& sink, const FollowHooks& hooks);

}  // namespace teson::cli
