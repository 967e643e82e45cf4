// Ends of attempts: how they are found out, made sure of, and told, and who takes the place that becomes free.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "adapters/launch_local/attempt_files.h"
#include "adapters/launch_local/tracked.h"
#include "attempt_dir/leftovers.h"

namespace teson {

// Tells what is new about one attempt.
void LocalLauncher::look(const AttemptId& id, Care care) {
  std::vector<AttemptReport> reports;
  std::optional<directory_state::Orphaned> orphan;
  {
    std::unique_lock guard(mutex_);
    Tracked* tracked = find(id);
    if (!tracked || tracked->order) return;
    const AttemptPaths paths = attempt_paths(data_, id);
    if (tracked->lock != FileIdentity{} && identity_at(paths.file(kLockFile)) != tracked->lock) {
      const OwnedFd agent = agent_of(id);
      const bool started_reported = tracked->started_reported;
      tracked_.erase(id);
      guard.unlock();
      return end_without_lock(id, agent, started_reported);
    }
    DirectoryState state = read_directory_state(paths);
    if (auto* running = std::get_if<directory_state::Running>(&state)) {
      if (running->record) {
        if (!tracked->watched) watch_process(*tracked, id, open_agent(*running->record));
        if (care == Care::kTend) tend_agent(*tracked, *running->record);
      }
      if (!running->started || tracked->started_reported) return;
      tracked->started_reported = true;
      reports.push_back({id, AttemptStartedReport{*running->started}});
    } else {
      const Tracked ended = std::move(*tracked);
      tracked_.erase(id);
      orphan = report_end(id, std::move(state), ended.started_reported, reports);
      if (orphan && ended.agent_killed) orphan->detail = "its agent did not carry out the stop and was killed";
      if (!orphan) release_follower(id, std::nullopt, reports);
    }
  }
  if (orphan) {
    reports.push_back({id, clear_up(id, orphan->record, orphan->detail)});
    const std::lock_guard guard(mutex_);
    release_follower(id, std::nullopt, reports);
  }
  for (AttemptReport& report : reports) sink_(std::move(report));
}

void LocalLauncher::tend_agent(Tracked& tracked, const LockRecord& record) {
  const auto is_agent = [&](pid_t pid) { return process_start_ticks(pid) == record.start_ticks; };
  if (record.boot_id != current_boot_id()) return;
  if (tracked.kill_agent_at && *tracked.kill_agent_at <= launch_monotonic_now()) {
    signal_pinned(record.pid, SIGKILL, is_agent);
    tracked.agent_killed = true;
  } else {
    signal_pinned(record.pid, SIGCONT, [&](pid_t pid) { return is_agent(pid) && is_suspended(pid); });
  }
}

std::optional<directory_state::Orphaned> LocalLauncher::report_end(const AttemptId& id, DirectoryState state,
                                                                   bool started_reported,
                                                                   std::vector<AttemptReport>& reports) {
  if (auto* ended = std::get_if<directory_state::Ended>(&state)) {
    const auto& started = ended->result.started;
    if (started && !started_reported) reports.push_back({id, AttemptStartedReport{*started}});
    reports.push_back({id, AttemptEndedReport{std::move(ended->result.end)}});
  } else if (auto* spoilt = std::get_if<directory_state::Spoilt>(&state)) {
    reports.push_back({id, AttemptLostReport{launch_wall_now(), spoilt->detail}});
  } else if (auto* orphaned = std::get_if<directory_state::Orphaned>(&state)) {
    return std::move(*orphaned);
  } else if (started_reported) {
    return directory_state::Orphaned{{}, "its directory was removed while it ran"};
  } else {
    reports.push_back({id, AttemptEndedReport{failed_launch(
                               "CannotStartContainerError: the agent ended before it could start the program")}});
  }
  return std::nullopt;
}

OwnedFd LocalLauncher::agent_of(const AttemptId& id) const {
  for (const auto& [key, process] : processes_) {
    if (process.id == id) return OwnedFd(::fcntl(process.pidfd.get(), F_DUPFD_CLOEXEC, 0));
  }
  return {};
}

// The job took its lock away, or put another file there: nobody can tell any more whether it runs. So it is ended, and
// only when nothing of it is left is it reported: what is launched next must not find it at work.
void LocalLauncher::end_without_lock(const AttemptId& id, const OwnedFd& agent, bool started_reported) {
  const AttemptPaths paths = attempt_paths(data_, id);
  const bool directory_is_there = exists(paths.directory);
  AttemptLostReport lost = clear_up(
      id, {}, directory_is_there ? "its lock was removed while it ran" : "its directory was removed while it ran");
  pollfd ended{.fd = agent.get(), .events = POLLIN, .revents = 0};
  if (agent && ::poll(&ended, 1, static_cast<int>(options_.kill_patience.whole_millis())) == 0) {
    ::syscall(SYS_pidfd_send_signal, agent.get(), SIGKILL, nullptr, 0);
    lost = clear_up(id, {}, lost.detail);
  }
  // The agent, whose tree is gone, may have left what it knows.
  std::vector<AttemptReport> reports;
  DirectoryState state = read_directory_state(paths);
  if (std::holds_alternative<directory_state::Ended>(state)) {
    report_end(id, std::move(state), started_reported, reports);
  } else {
    reports.push_back({id, std::move(lost)});
  }
  {
    const std::lock_guard guard(mutex_);
    release_follower(id, std::nullopt, reports);
  }
  for (AttemptReport& report : reports) sink_(std::move(report));
}

AttemptLostReport LocalLauncher::clear_up(const AttemptId& id, const LockRecord& record, std::string detail) {
  if (!kill_leftovers(attempt_marker(id), own_cgroups(record, id), options_.kill_patience)) {
    detail += "; some of its processes could not be killed";
  }
  return {launch_wall_now(), std::move(detail)};
}

// With mutex_ held. `ended` is tracked no more, and nothing of it is left: who waits for its place starts, or waits for
// the one that it waited for itself.
void LocalLauncher::release_follower(const AttemptId& ended, const std::optional<AttemptId>& ahead,
                                     std::vector<AttemptReport>& reports) {
  const auto found = followers_.find(ended);
  if (found == followers_.end()) return;
  const AttemptId id = found->second;
  followers_.erase(found);
  Tracked* tracked = find(id);
  if (!tracked || !tracked->order) return;
  if (ahead && find(*ahead)) {
    followers_.insert_or_assign(*ahead, id);
  } else {
    try_launch(id, *tracked, reports);
  }
}

void LocalLauncher::release_followers_of(std::span<const AttemptId> ended) {
  std::vector<AttemptReport> reports;
  {
    const std::lock_guard guard(mutex_);
    for (const AttemptId& id : ended) release_follower(id, std::nullopt, reports);
  }
  for (AttemptReport& report : reports) sink_(std::move(report));
}

}  // namespace teson
