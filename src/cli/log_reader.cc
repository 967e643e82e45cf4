#include "cli/log_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "cli/array_view.h"
#include "cli/interrupt.h"
#include "cli/short_id.h"
#include "cli/text.h"

namespace teson::cli {
namespace {

constexpr const char* kLogGroup = "/aws/batch/job";
constexpr int64_t kPage = 10'000;  // GetLogEvents' own limit
constexpr Duration kShortestPause = Duration::millis(50);
constexpr Duration kLongestPause = Duration::millis(500);

// Where reading stands: the attempt, its stream, and the token of the next page.
class LogCursor {
 public:
  LogCursor(const LogSelection& selection, const LogSink& sink) : selection_(selection), sink_(sink) {}

  // Reads all that the server has of the attempts in `job`. Attempts that `job` says are over are read to their end and
  // left behind. True when at least one line came. Fails only with what may pass: what the server refuses is left
  // behind.
  Outcome<bool> read(Client& client, const JobView& job);
  // The attempt that is being read is not asked for again.
  void leave_behind(const Failure& why);
  bool left_some_behind() const { return unread_ > 0; }
  // Nothing more can come, if `job` was read before the last read().
  bool complete(const JobView& job) const;

 private:
  void choose_first(const JobView& job);
  Outcome<bool> read_stream(Client& client, const AttemptView& attempt);
  Outcome<void> read_tail(Client& client, const AttemptView& attempt, int64_t count);
  Outcome<Json> page(Client& client, const std::string& stream, const std::string& token, bool from_head,
                     int64_t limit);
  void deliver(int attempt, const Json& event) const;

  LogSelection selection_;
  const LogSink& sink_;
  int next_ = 0;    // attempt number; 0: not chosen yet
  int unread_ = 0;  // the last attempt that was left behind
  bool announced_ = false;
  bool tail_done_ = false;
  std::string token_;
};

void LogCursor::choose_first(const JobView& job) {
  next_ = selection_.attempt.value_or(1);
  if (selection_.attempt || !selection_.tail) return;
  for (const AttemptView& attempt : job.attempts) {
    if (!attempt.log_stream.empty()) next_ = attempt.number;
  }
}

Outcome<bool> LogCursor::read(Client& client, const JobView& job) {
  if (next_ == 0) {
    if (job.attempts.empty()) return false;
    choose_first(job);
  }
  bool any = false;
  for (const AttemptView& attempt : job.attempts) {
    if (attempt.number != next_) continue;
    if (attempt.live && attempt.log_stream.empty()) break;
    if (!announced_) sink_.attempt(attempt);
    announced_ = true;
    if (!attempt.log_stream.empty() && unread_ != next_) {
      const auto lines = read_stream(client, attempt);
      if (!lines && lines.error().passing) return lines;
      if (!lines) leave_behind(lines.error());
      any = any || (lines && *lines);
    }
    if (attempt.live || selection_.attempt) break;
    ++next_;
    announced_ = false;
    token_.clear();
  }
  return any;
}

void LogCursor::leave_behind(const Failure& why) {
  unread_ = next_;
  sink_.notice(
      fmt::format("the log of attempt {} cannot be read, so no more of its lines are shown: {}", next_, why.message));
}

bool LogCursor::complete(const JobView& job) const {
  if (is_finished_status(job.status)) return true;
  if (!selection_.attempt) return false;
  const auto wanted = std::find_if(job.attempts.begin(), job.attempts.end(),
                                   [&](const AttemptView& attempt) { return attempt.number == *selection_.attempt; });
  return wanted != job.attempts.end() && !wanted->live;
}

Outcome<Json> LogCursor::page(Client& client, const std::string& stream, const std::string& token, bool from_head,
                              int64_t limit) {
  Json request = Json::object(
      {{"logGroupName", kLogGroup}, {"logStreamName", stream}, {"startFromHead", from_head}, {"limit", limit}});
  if (!token.empty()) request["nextToken"] = token;
  return client.logs("GetLogEvents", request);
}

void LogCursor::deliver(int attempt, const Json& event) const {
  const Json& message = field(event, "message");
  if (!message.is_string()) return;
  const std::string& text = message.get_ref<const std::string&>();
  sink_.line({attempt, Instant::from_millis(int_field(event, "timestamp").value_or(0)), text});
}

Outcome<bool> LogCursor::read_stream(Client& client, const AttemptView& attempt) {
  if (selection_.tail && !tail_done_) {
    // What follows the first stream is read whole.
    const auto done = read_tail(client, attempt, *selection_.tail);
    if (!done) return std::unexpected(done.error());
    tail_done_ = true;
  }
  bool any = false;
  for (;;) {
    const auto answer = page(client, attempt.log_stream, token_, true, kPage);
    // A live attempt's stream may be announced a moment before it exists.
    if (!answer && answer.error().code == "ResourceNotFoundException" && attempt.live) return any;
    if (!answer) return std::unexpected(answer.error());
    const Json& events = array_field(*answer, "events");
    for (const Json& event : events) deliver(attempt.number, event);
    any = any || !events.empty();
    const std::string next = text_field(*answer, "nextForwardToken");
    // AWS: at the end of a stream the token that was given comes back; a page may be empty before that.
    const bool at_end = next.empty() || next == token_;
    if (!next.empty()) token_ = next;
    if (at_end || interrupted()) return any;
  }
}

Outcome<void> LogCursor::read_tail(Client& client, const AttemptView& attempt, int64_t count) {
  std::deque<Json> lines;
  std::string forward, backward;
  while (static_cast<int64_t>(lines.size()) < count || forward.empty()) {
    const int64_t missing = count - static_cast<int64_t>(lines.size());
    const auto answer = page(client, attempt.log_stream, backward, false, std::clamp<int64_t>(missing, 1, kPage));
    if (!answer && answer.error().code == "ResourceNotFoundException" && attempt.live) return {};
    if (!answer) return std::unexpected(answer.error());
    const Json& events = array_field(*answer, "events");
    if (forward.empty()) forward = text_field(*answer, "nextForwardToken");
    for (auto event = events.rbegin(); event != events.rend() && static_cast<int64_t>(lines.size()) < count; ++event) {
      lines.push_front(*event);
    }
    const std::string next = text_field(*answer, "nextBackwardToken");
    if (next.empty() || next == backward || interrupted()) break;
    backward = next;
  }
  token_ = forward;
  for (const Json& event : lines) deliver(attempt.number, event);
  return {};
}

// Says once why nothing runs yet, and again when the reason changes.
class WaitingNotice {
 public:
  void look(const JobView& job, const LogSink& sink) {
    const bool waiting = job.status == "SUBMITTED" || job.status == "PENDING" || job.status == "RUNNABLE";
    if (!waiting) {
      since_ = {};
      return;
    }
    if (since_ == Instant{}) since_ = now();
    // Most jobs start at once; then there is nothing to say.
    if (now() - since_ < Duration::seconds(2)) return;
    const std::string text =
        fmt::format("{} is {}{}", job_label(job), job.status,
                    job.status_reason.empty() ? ", waiting for its turn" : ": " + printable(job.status_reason));
    if (text != said_) sink.notice(text);
    said_ = text;
  }

 private:
  Instant since_;
  std::string said_;
};

Outcome<JobView> view_of(Client& client, const std::string& job_id) {
  const auto detail = describe_job(client, job_id);
  if (!detail) return std::unexpected(detail.error());
  if (const auto array = array_view(*detail)) {
    return usage(fmt::format("{} is an array of {} children, and each has a log of its own: teson logs {}:0",
                             job_label(job_view(*detail)), array->size, short_form(job_id)));
  }
  return job_view(*detail);
}

}  // namespace

Outcome<LogEnd> read_log(Client& client, const std::string& job_id, const LogSelection& selection,
                         const LogSink& sink) {
  auto job = view_of(client, job_id);
  if (!job) return std::unexpected(job.error());
  LogCursor cursor(selection, sink);
  const auto read = cursor.read(client, *job);
  if (!read) return std::unexpected(read.error());
  return LogEnd{.job = *std::move(job), .complete = !cursor.left_some_behind()};
}

Outcome<LogEnd> follow_log(Client& client, const std::string& job_id, const LogSelection& selection,
                           const LogSink& sink, const FollowHooks& hooks) {
  LogCursor cursor(selection, sink);
  Patience patience(hooks.patience);
  WaitingNotice waiting;
  Duration pause = kShortestPause;
  LogEnd end;
  for (;;) {
    if (interrupted()) {
      const Outcome<bool> go_on = hooks.go_on_when_interrupted ? hooks.go_on_when_interrupted(client) : false;
      if (!go_on) return std::unexpected(go_on.error());
      if (!*go_on) break;
    }
    auto job = view_of(client, job_id);
    const Outcome<bool> any = job ? cursor.read(client, *job) : Outcome<bool>(std::unexpected(job.error()));
    if (!any) {
      if (any.error().passing && patience.again(any.error(), sink.notice)) {
        wait_for(kLongestPause);
        if (const auto session = hooks.reopen()) client = Client(*session);
        continue;
      }
      if (!job) return std::unexpected(any.error());
      // The server tells of the job but has not given its log for so long: the job's end still counts.
      cursor.leave_behind(any.error());
      patience = Patience(hooks.patience);
      continue;
    }
    patience.answered(sink.notice);
    if (*any) sink.caught_up();
    end.job = *std::move(job);
    end.complete = !cursor.left_some_behind();
    waiting.look(end.job, sink);
    if (cursor.complete(end.job) && !interrupted()) return end;
    pause = *any ? kShortestPause : std::min(Duration{pause.micros * 3 / 2}, kLongestPause);
    wait_for(pause);
  }
  end.interrupted = true;
  return end;
}

}  // namespace teson::cli
