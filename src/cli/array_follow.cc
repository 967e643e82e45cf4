#include "cli/array_follow.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/interrupt.h"
#include "cli/text.h"

namespace teson::cli {
namespace {

constexpr Duration kShortestPause = Duration::millis(50);
constexpr Duration kLongestPause = Duration::millis(500);

// Before the first child starts, the reason says what all of them wait for.
std::string line_of(const Json& detail) {
  const JobView job = job_view(detail);
  const auto array = array_view(detail);
  if (!array) return job_label(job);
  std::string text = fmt::format("{}: {}", job_label(job), progress_text(*array));
  const bool none_yet = array->waiting == array->children() && !is_finished_status(job.status);
  const std::string& reason = job.status_reason;
  // The server's own count says the same again.
  if (none_yet && !reason.empty() && reason.find("children have ended") == std::string::npos) {
    text += fmt::format(" ({})", printable(reason));
  }
  return text;
}

}  // namespace

Outcome<ArrayEnd> follow_array(Client& client, const std::string& id, ProgressLine& progress,
                               const FollowHooks& hooks) {
  const auto say = [&](std::string_view text) { progress.message("teson: " + std::string(text)); };
  Patience patience(hooks.patience);
  Duration pause = kShortestPause;
  ArrayEnd end;
  for (;;) {
    if (interrupted()) {
      progress.leave();
      const Outcome<bool> go_on = hooks.go_on_when_interrupted ? hooks.go_on_when_interrupted(client) : false;
      if (!go_on) return std::unexpected(go_on.error());
      if (!*go_on) break;
    }
    auto detail = describe_job(client, id);
    if (!detail) {
      if (!detail.error().passing || !patience.again(detail.error(), say)) {
        progress.leave();
        return std::unexpected(detail.error());
      }
      wait_for(kLongestPause);
      if (const auto session = hooks.reopen()) client = Client(*session);
      continue;
    }
    patience.answered(say);
    end.detail = *std::move(detail);
    const std::string line = line_of(end.detail);
    if (is_finished_status(text_field(end.detail, "status"))) {
      progress.end(line);
      return end;
    }
    progress.show(line, now());
    wait_for(pause);
    pause = std::min(Duration{pause.micros * 3 / 2}, kLongestPause);
  }
  end.interrupted = true;
  return end;
}

}  // namespace teson::cli
