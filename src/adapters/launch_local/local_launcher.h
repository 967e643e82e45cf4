// Launcher for this machine: one agent per attempt, spawned as `teson agent DIR` in a session of its own, so that it
// outlives this process. The attempt's directory is the truth; datagrams on <data>/control.sock and pidfds only say
// when to look, and a slow sweep looks anyway.
//
// Thread: launch, stop, settle and forget from any one thread. Reports come from the launcher's own thread, or from the
// calling thread inside launch() and stop(); the sink must not call back into the launcher.
// An agent that somebody suspended is woken at the next sweep: its attempt's time-out and stop depend on it.
// Failure: a full disk (or no process to be had) is not the job's fault: the order is kept and tried again each second.
// What cannot get better by waiting is reported as EndCause::kLaunchFailed.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "adapters/launch_local/attempt_files.h"
#include "adapters/launch_local/nursery_client.h"
#include "base/owned_fd.h"
#include "base/result.h"
#include "ports/launcher.h"

namespace teson {

// Which attempts keep their work/ once their end is durable. Logs, results and checkpoints are always kept.
enum class KeepWork { kAll, kFailed, kNone };

struct LocalLauncherOptions {
  // The account that an owner's programs run as; nothing: the server's own. Asked at each launch, on the thread that
  // launches; an error fails the launch. Null: the server's own for all.
  std::function<Result<std::optional<UnixAccount>>(const std::string& owner)> account_of;
  KeepWork keep_work = KeepWork::kAll;
  // The agent's program as a file; the default is the running one, held open so that an upgrade on disk changes
  // nothing.
  std::string agent_program = "/proc/self/exe";
  // The agent's program as bytes (agent/image.h), preferred where the system runs programs from memory. Copied.
  std::span<const unsigned char> agent_image = {};
  // Agents are forked by a nursery if it can be had; false: each is executed.
  bool use_nursery = true;
  Duration nursery_patience = Duration::seconds(5);  // one that is silent for longer is killed
  Duration sweep = Duration::seconds(2);
  Duration retry = Duration::seconds(1);  // after a full disk
  // An agent that has not ended its attempt this long after a stop's grace is killed, and its tree with it.
  Duration stop_margin = Duration::seconds(10);
  // How long settle() and the report of a loss wait for killed processes to be gone.
  Duration kill_patience = Duration::seconds(10);
};

class LocalLauncher final : public Launcher {
 public:
  // kConflict: another server listens in this data directory.
  static Result<std::unique_ptr<LocalLauncher>> open(const std::string& data_directory, ReportSink sink,
                                                     LocalLauncherOptions options = {});
  // Agents carry on.
  ~LocalLauncher() override;

  void launch(const LaunchOrder& order) override;
  void stop(const AttemptId& id, Duration grace) override;
  AttemptFinding settle(const AttemptId& id) override;
  void forget(std::span<const AttemptId> ids) override;

 private:
  struct Tracked;  // one attempt
  using Key = uint64_t;

  LocalLauncher(std::string data_directory, ReportSink sink, LocalLauncherOptions options);
  Status set_up();

  // An agent's process, watched until it ends, and reaped if it is our child.
  struct Process {
    AttemptId id;
    OwnedFd pidfd;
  };

  // With mutex_ held.
  Tracked* find(const AttemptId& id);
  void watch_process(Tracked& tracked, const AttemptId& id, OwnedFd pidfd);
  void look_soon(const AttemptId& id);
  Result<OwnedFd> claim(const AttemptPaths& paths, const AttemptId& id);
  std::string program_path() const;
  bool has_descriptors() const;
  Status start_agent(const LaunchOrder& order, Tracked& tracked);
  Status give_places(const AttemptPaths& paths, const UnixAccount& account) const;
  Status new_agent(const AttemptPaths& paths, const AttemptId& id, Tracked& tracked, OwnedFd lock);
  void try_launch(const AttemptId& id, Tracked& tracked, std::vector<AttemptReport>& reports);
  void release_follower(const AttemptId& ended, const std::optional<AttemptId>& ahead,
                        std::vector<AttemptReport>& reports);

  void release_followers_of(std::span<const AttemptId> ended);

  // The launcher's own thread.
  void serve();
  int wait_millis(Duration next_sweep);
  void read_control();
  void process_ended(Key key);
  void look_at_changed();
  enum class Care { kRead, kTend };  // tend: wake or end an agent that does not do its work
  void look(const AttemptId& id, Care care);
  void tend_agent(Tracked& tracked, const LockRecord& record);
  std::optional<directory_state::Orphaned> report_end(const AttemptId& id, DirectoryState state, bool started_reported,
                                                      std::vector<AttemptReport>& reports);
  void end_without_lock(const AttemptId& id, const OwnedFd& agent, bool started_reported);
  OwnedFd agent_of(const AttemptId& id) const;
  AttemptLostReport clear_up(const AttemptId& id, const LockRecord& record, std::string detail);
  void retry_held();
  void sweep();
  void prune();
  void wake();

  const std::string data_;
  const ReportSink sink_;
  const LocalLauncherOptions options_;
  OwnedFd program_;
  OwnedFd control_;
  OwnedFd epoll_;
  OwnedFd wake_;

  std::mutex mutex_;
  std::map<AttemptId, Tracked> tracked_;      // launched or adopted, its end not yet reported
  std::map<AttemptId, AttemptId> followers_;  // tracked, held, and to start when the first has ended
  std::map<Key, Process> processes_;          // by epoll key
  Key next_key_ = 16;                         // below are the launcher's own descriptors
  std::vector<AttemptId> changed_;            // to be looked at
  std::vector<AttemptId> to_prune_;
  std::optional<NurseryClient> nursery_;

  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace teson
