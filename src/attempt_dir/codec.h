// The texts inside an attempt's directory: JSON, versioned, unknown fields ignored so that an older program reads what
// a newer one wrote. Errors name the file and the field. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "attempt_dir/lock.h"
#include "base/result.h"
#include "domain/launch.h"

namespace teson {

// result.json: the end, and the start too, so that a lost event loses nothing.
struct AttemptResult {
  AttemptId id;
  AttemptEnd end;
  std::optional<Instant> started;  // absent: the program never ran
};

// kInvalid when a string is not UTF-8.
Result<std::string> encode_order(const LaunchOrder& order);
Result<LaunchOrder> decode_order(std::string_view text, const std::string& file);

// Strings that are not UTF-8 have the bad bytes replaced: a result is never refused.
std::string encode_result(const AttemptResult& result);
Result<AttemptResult> decode_result(std::string_view text, const std::string& file);

std::string encode_lock_record(const LockRecord& record);
std::optional<LockRecord> decode_lock_record(std::string_view text);

// stop.json, and the datagram that goes with it.
std::string encode_stop(Duration grace);
std::optional<Duration> decode_stop(std::string_view text);

// One line of events.jsonl with its newline.
struct AgentEvent {
  Instant at;
  std::string event;  // "started", "stopping", "killing", "ended", "note", "held"
  std::optional<int64_t> pid;
  std::string detail;
};
std::string encode_event(const AgentEvent& event);
std::optional<AgentEvent> decode_event(std::string_view line);
// When the program began, according to a whole events.jsonl.
std::optional<Instant> started_in(std::string_view events);

}  // namespace teson
