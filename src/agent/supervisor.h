// One attempt from order to result: the agent's only loop, one thread, all state here.
//
//   prepare -> (held while the disk is full) -> start -> watch -> finish -> published
//
// What may interrupt: a stop (stop.json, a datagram on agent.sock, or SIGTERM to the agent), the attempt's timeout, the
// end of the program. The first of them names the cause.
#pragma once

#include <optional>
#include <string>

#include "agent/cgroup.h"
#include "agent/clocks.h"
#include "agent/log_indexer.h"
#include "agent/oom_watch.h"
#include "agent/process_tree.h"
#include "agent/result_file.h"
#include "attempt_dir/codec.h"
#include "attempt_dir/lock.h"

namespace teson {

class Supervisor {
 public:
  // The process stands in `directory` (absolute) and owns its lock.
  Supervisor(std::string directory, OwnedFd lock) : directory_(std::move(directory)), lock_(std::move(lock)) {}

  // Returns when the result is on disk, and not before.
  void run();

 private:
  enum class Ending { kNone, kStop, kTimeout };

  // prepare
  void open_ears();
  Status read_order();
  void make_cgroup();
  bool take_room();  // false: stopped while held

  // start and watch
  bool start();
  void watch();
  void wait_for_activity();
  void on_deadlines();
  std::optional<Duration> next_deadline() const;
  void index_log();
  void tell_full_disk();
  void look_for_oom();
  void hear_signals();
  void hear_datagrams();
  void look_for_stop();
  void request_stop(Duration grace);
  void begin_ending(Ending ending, Duration grace);

  // finish
  AttemptEnd describe_end();
  void describe_exit(int wait_status, AttemptEnd& end) const;
  Usage measure() const;
  void publish(const AttemptEnd& end);

  void note(const char* event, const std::string& detail, std::optional<pid_t> pid = std::nullopt);
  void poke_control();

  std::string directory_;
  OwnedFd lock_;
  LaunchOrder order_;
  std::optional<Cgroup> cgroup_;
  std::optional<OomWatch> oom_;
  std::optional<ProcessTree> tree_;
  std::optional<LogIndexer> indexer_;
  ResultFile result_;
  OwnedFd log_;
  OwnedFd socket_;   // agent.sock
  OwnedFd signals_;  // SIGCHLD, SIGTERM, SIGINT
  OwnedFd poke_;     // for sending

  std::optional<Duration> stop_grace_;  // a stop was asked for
  Ending ending_ = Ending::kNone;
  Duration ending_grace_;
  bool full_disk_told_ = false;
  bool had_to_kill_ = false;            // something of it was alive when the grace was over
  bool had_to_kill_main_ = false;       // the program itself
  std::optional<Duration> timeout_at_;  // all by the monotonic clock
  std::optional<Duration> kill_at_;
  std::optional<Duration> poke_at_;
  int pokes_left_ = 0;

  std::optional<Instant> started_;
  Duration started_monotonic_;
  Duration run_;
};

}  // namespace teson
