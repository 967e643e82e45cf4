#include "agent/supervisor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "agent/bus_error.h"
#include "attempt_dir/files.h"
#include "attempt_dir/paths.h"

namespace teson {
namespace {

constexpr Duration kRetry = Duration::seconds(1);      // a full disk
constexpr Duration kKillAgain = Duration::millis(20);  // something forked while being killed
constexpr Duration kKillInit = Duration::millis(500);  // an init that did not manage to kill
constexpr Duration kPokeAgain = Duration::millis(20);  // the control plane's queue was full
constexpr int kPokes = 50;
constexpr const char* kDiskFullText = "the disk was full while it ran: some of its output may be missing";
constexpr const char* kExitedText = "Essential container in task exited";

bool pid_namespaces_wanted() {
  const char* value = std::getenv("TESON_AGENT_PIDNS");
  return value == nullptr || std::strcmp(value, "0") != 0;
}

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

sockaddr_un address_of(const char* relative) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, relative, sizeof address.sun_path - 1);
  return address;
}

std::string signal_text(int number) {
  const char* name = ::sigabbrev_np(number);
  return name ? fmt::format("killed by signal {} (SIG{})", number, name) : fmt::format("killed by signal {}", number);
}

std::string seconds_text(Duration duration) {
  if (duration.micros % 1'000'000 == 0) return fmt::format("{} s", duration.whole_seconds());
  return fmt::format("{:.3g} s", static_cast<double>(duration.micros) / 1e6);
}

int64_t mib(int64_t bytes) { return (bytes + (1 << 20) - 1) >> 20; }

Duration from_timeval(const timeval& time) { return {int64_t{time.tv_sec} * 1'000'000 + time.tv_usec}; }

}  // namespace

void Supervisor::run() {
  open_ears();
  const Status order = read_order();
  AttemptEnd failed{.cause = EndCause::kLaunchFailed, .status_reason = "Task failed to start"};
  if (!order) {
    failed.reason = clip("CannotStartContainerError: " + order.error().message, 255);
    failed.ended = wall_now();
    return publish(failed);
  }
  make_cgroup();
  look_for_stop();
  if (!take_room() || stop_grace_) {
    return publish(
        {.cause = EndCause::kStopped, .status_reason = "Stopped before the program started", .ended = wall_now()});
  }
  if (start()) {
    watch();
    publish(describe_end());
  }
}

void Supervisor::open_ears() {
  sigset_t heard;
  ::sigemptyset(&heard);
  for (const int number : {SIGCHLD, SIGTERM, SIGINT}) ::sigaddset(&heard, number);
  sigset_t blocked = heard;
  for (const int number : {SIGHUP, SIGPIPE, SIGUSR1, SIGUSR2}) ::sigaddset(&blocked, number);
  ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
  signals_.reset(::signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK));

  socket_.reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  ::unlink(kAgentSocket);
  const sockaddr_un address = address_of(kAgentSocket);
  // Without it stops still come: stop.json is looked at before the start, and SIGTERM is heard.
  if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    note("note", std::string("cannot listen on agent.sock: ") + std::strerror(errno));
  }
  poke_.reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

Status Supervisor::read_order() {
  // The id first, from where we stand: a result can then be written even if the order cannot be read.
  const std::string job_directory = parent_of(directory_);
  if (const auto job = JobId::parse_directory_name(job_directory.substr(job_directory.rfind('/') + 1)))
    order_.id.job = *job;
  order_.id.number = std::atoi(directory_.c_str() + directory_.rfind('/') + 1);

  const auto text = read_file(kSpecFile);
  if (!text) return std::unexpected(text.error());
  auto order = decode_order(*text, kSpecFile);
  if (!order) return std::unexpected(order.error());
  if (order->id != order_.id) {
    return invalid(fmt::format("spec.json is for attempt {}, but lies in the directory of {}", order->id.text(),
                               order_.id.text()));
  }
  order_ = std::move(*order);
  return {};
}

void Supervisor::make_cgroup() {
  const std::string name = fmt::format("{}-{}", order_.id.job.directory_name(), order_.id.number);
  cgroup_.emplace(Cgroup::create(name, order_.limits, cgroup_choice_from_environment()));
  if (!cgroup_->note().empty()) note("note", cgroup_->note());
}

namespace {

// The program may fill the disk before the agent has noted that it started: nobody would hear of it until the end.
Status reserve_events() {
  constexpr off_t kBytes = 4096;
  const OwnedFd file(::open(kEventsFile, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0644));
  if (!file) return errno_error(std::string("cannot create ") + kEventsFile);
  // A file system that cannot reserve is no reason not to run.
  if (::fallocate(file.get(), FALLOC_FL_KEEP_SIZE, 0, kBytes) == 0 || errno != ENOSPC) return {};
  return errno_error("cannot take 4 KiB of disk for the attempt's events");
}

}  // namespace

bool Supervisor::take_room() {
  LockRecord record{.pid = ::getpid(),
                    .start_ticks = process_start_ticks(::getpid()).value_or(0),
                    .boot_id = current_boot_id(),
                    .cgroups = cgroup_->directories()};
  bool held = false;
  while (true) {
    Status status = write_lock_record(lock_.get(), record);
    if (status && !result_.reserved()) status = reserve_events();
    if (status && !result_.reserved()) status = result_.reserve();
    if (status) {
      if (held) note("note", "there is room on the disk again");
      return true;
    }
    if (!held) note("held", status.error().message);
    held = true;
    pollfd watched[2] = {{socket_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
    ::poll(watched, 2, static_cast<int>(kRetry.whole_millis()));
    hear_signals();
    hear_datagrams();
    look_for_stop();
    if (stop_grace_) return false;
  }
}

bool Supervisor::start() {
  log_.reset(::open(kLogFile, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  AttemptEnd failed{.cause = EndCause::kLaunchFailed, .status_reason = "Task failed to start"};
  failed.usage.memory_limit_bytes = cgroup_->memory_limit_bytes();
  if (!log_) {
    failed.reason = std::string("CannotStartContainerError: cannot create stdout.log: ") + std::strerror(errno);
    failed.ended = wall_now();
    publish(failed);
    return false;
  }
  // What opens /dev/stdout opens this file anew, with the account's rights.
  if (order_.account &&
      (::fchown(log_.get(), order_.account->uid, order_.account->gid) != 0 || ::fchmod(log_.get(), 0600) != 0)) {
    failed.reason = std::string("CannotStartContainerError: cannot hand over stdout.log: ") + std::strerror(errno);
    failed.ended = wall_now();
    publish(failed);
    return false;
  }
  const ProgramPlaces places{.directory = directory_,
                             .work = directory_ + "/" + kWorkDirectory,
                             .checkpoints = parent_of(directory_) + "/checkpoints"};
  Program program = make_program(order_, places, log_.get());
  program.cgroup_tasks = cgroup_->task_fds();
  oom_.emplace(*cgroup_);
  tree_.emplace(*cgroup_, lock_.get(), pid_namespaces_wanted());
  if (const auto begun = tree_->start(program); !begun) {
    failed.reason = launch_failure_text(begun.error(), program);
    failed.ended = wall_now();
    publish(failed);
    return false;
  }
  started_ = wall_now();
  started_monotonic_ = monotonic_now();
  if (order_.timeout) timeout_at_ = started_monotonic_ + *order_.timeout;
  note("started", tree_->in_namespace() ? "in its own pid namespace" : "", tree_->main_pid());
  pokes_left_ = kPokes;
  poke_control();
  indexer_.emplace(log_.get());
  tell_full_disk();
  return true;
}

void Supervisor::watch() {
  // Something may have come between looking and starting.
  look_for_stop();
  tree_->reap();
  while (!tree_->gone()) {
    wait_for_activity();
    hear_signals();
    tree_->reap();
    if (tree_->gone()) break;
    hear_datagrams();
    on_deadlines();
  }
  run_ = monotonic_now() - started_monotonic_;
  indexer_->finish();
}

std::optional<Duration> Supervisor::next_deadline() const {
  std::optional<Duration> next;
  for (const auto& deadline : {ending_ == Ending::kNone ? timeout_at_ : std::nullopt, kill_at_, poke_at_,
                               oom_->deadline(), indexer_->deadline()}) {
    if (deadline && (!next || *deadline < *next)) next = deadline;
  }
  return next;
}

void Supervisor::wait_for_activity() {
  pollfd watched[5] = {{signals_.get(), POLLIN, 0},
                       {socket_.get(), POLLIN, 0},
                       {tree_->message_fd(), POLLIN, 0},
                       {indexer_->deadline() ? -1 : indexer_->notify_fd(), POLLIN, 0},
                       {oom_->fd(), oom_->events(), 0}};
  timespec timeout{};
  const auto next = next_deadline();
  if (next) {
    const int64_t left = std::max<int64_t>((*next - monotonic_now()).micros, 0);
    timeout = {.tv_sec = left / 1'000'000, .tv_nsec = (left % 1'000'000) * 1000};
  }
  ::ppoll(watched, 5, next ? &timeout : nullptr, nullptr);
  if (watched[3].revents != 0) index_log();
  if (watched[4].revents != 0) look_for_oom();
}

void Supervisor::on_deadlines() {
  const Duration now = monotonic_now();
  if (indexer_->deadline() && *indexer_->deadline() <= now) index_log();
  if (oom_->deadline() && *oom_->deadline() <= now) look_for_oom();
  if (poke_at_ && *poke_at_ <= now) poke_control();
  if (timeout_at_ && *timeout_at_ <= now && ending_ == Ending::kNone) begin_ending(Ending::kTimeout, order_.grace);
  if (kill_at_ && *kill_at_ <= now) {
    if (!had_to_kill_) {
      note("killing", fmt::format("still alive {} after SIGTERM", seconds_text(ending_grace_)));
      had_to_kill_main_ = !tree_->main_end();
      had_to_kill_ = true;
    }
    tree_->kill();
    kill_at_ = now + (tree_->in_namespace() ? kKillInit : kKillAgain);
  }
}

void Supervisor::index_log() {
  indexer_->on_activity();
  tell_full_disk();
}

void Supervisor::tell_full_disk() {
  if (full_disk_told_ || !indexer_->disk_was_full()) return;
  full_disk_told_ = true;
  note("disk", kDiskFullText);
}

void Supervisor::look_for_oom() {
  if (!oom_->look(tree_->main_pid(), monotonic_now())) return;
  note("memory",
       fmt::format("the kernel has killed {} of its processes for memory; the program goes on", oom_->kills()));
}

void Supervisor::hear_signals() {
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo != SIGCHLD) request_stop(order_.grace);
  }
}

void Supervisor::hear_datagrams() {
  char text[512];
  ssize_t n;
  while ((n = ::recv(socket_.get(), text, sizeof text, 0)) >= 0) {
    look_for_stop();
    // The request itself, for when the disk was too full for the file.
    if (const auto grace = decode_stop({text, static_cast<size_t>(n)})) request_stop(*grace);
  }
}

void Supervisor::look_for_stop() {
  if (stop_grace_) return;
  const auto text = read_file(kStopFile, 4096);
  if (!text) return;
  // A file that cannot be read was still a stop.
  request_stop(decode_stop(*text).value_or(order_.grace));
}

void Supervisor::request_stop(Duration grace) {
  if (stop_grace_) return;
  stop_grace_ = grace;
  if (tree_) begin_ending(Ending::kStop, grace);
}

void Supervisor::begin_ending(Ending ending, Duration grace) {
  const Duration deadline = monotonic_now() + grace;
  if (ending_ != Ending::kNone) {
    // A stop while the timeout's grace runs may only shorten it.
    if (deadline < *kill_at_) {
      kill_at_ = deadline;
      ending_grace_ = grace;
    }
    return;
  }
  ending_ = ending;
  ending_grace_ = grace;
  kill_at_ = deadline;
  note("stopping", ending == Ending::kStop ? "asked to stop: SIGTERM" : "its time is over: SIGTERM");
  tree_->terminate();
}

void Supervisor::describe_exit(int wait_status, AttemptEnd& end) const {
  if (WIFSIGNALED(wait_status)) {
    end.exit_code = 128 + WTERMSIG(wait_status);
    end.reason = signal_text(WTERMSIG(wait_status));
  } else {
    end.exit_code = WEXITSTATUS(wait_status);
    // As a shell says it of the program that it ran.
    if (*end.exit_code == 128 + SIGBUS) end.reason = "135 is 128 + SIGBUS";
  }
  if (*end.exit_code == 128 + SIGBUS) end.reason += ": " + bus_error_text();
}

namespace {

void add_remark(std::string& reason, const std::string& remark) {
  if (!remark.empty()) reason += (reason.empty() ? "" : "; ") + remark;
}

}  // namespace

AttemptEnd Supervisor::describe_end() {
  AttemptEnd end{.status_reason = kExitedText, .usage = measure()};
  // A clock that was set back must not end an attempt before it began.
  end.ended = std::max(wall_now(), *started_ + run_);
  const MainEnd main = tree_->main_end().value_or(MainEnd{SIGKILL, ending_ != Ending::kNone});
  describe_exit(main.wait_status, end);
  const Duration now = started_monotonic_ + run_;
  const bool killed = WIFSIGNALED(main.wait_status) && WTERMSIG(main.wait_status) == SIGKILL;
  // After a stop only the kernel's own kill counts: it would have failed anyway.
  const bool for_memory = oom_->explains(main.wait_status, now) && (killed || !main.after_terminate);
  if (main.after_terminate) {
    end.cause = ending_ == Ending::kTimeout ? EndCause::kTimedOut : EndCause::kStopped;
    if (end.cause == EndCause::kTimedOut) end.status_reason = "Job attempt duration exceeded timeout";
  } else if (for_memory) {
    end.cause = EndCause::kOutOfMemory;
  }
  if (main.after_terminate && had_to_kill_main_) {
    end.reason = fmt::format("did not stop within {} of SIGTERM: killed", seconds_text(ending_grace_));
    add_remark(end.reason, oom_->earlier_kills_text(now));
  } else if (for_memory) {
    end.reason = out_of_memory_text(mib(end.usage.memory_limit_bytes), mib(end.usage.peak_memory_bytes));
  } else if (*end.exit_code != 0) {
    add_remark(end.reason, oom_->earlier_kills_text(now));
  }
  if (main.after_terminate && had_to_kill_ && !had_to_kill_main_) {
    add_remark(end.reason, fmt::format("some of its processes did not stop within {} of SIGTERM: killed",
                                       seconds_text(ending_grace_)));
  }
  if (indexer_->disk_was_full()) add_remark(end.reason, kDiskFullText);
  return end;
}

Usage Supervisor::measure() const {
  rusage tree{};
  ::getrusage(RUSAGE_CHILDREN, &tree);
  return {.peak_memory_bytes = cgroup_->peak_memory_bytes().value_or(int64_t{tree.ru_maxrss} * 1024),
          .memory_limit_bytes = cgroup_->memory_limit_bytes(),
          .user_cpu = from_timeval(tree.ru_utime),
          .system_cpu = from_timeval(tree.ru_stime),
          .run = run_};
}

namespace {

bool own_directory_is_gone() {
  struct stat info;
  return ::stat(".", &info) == 0 && info.st_nlink == 0;
}

}  // namespace

void Supervisor::publish(const AttemptEnd& end) {
  const AttemptResult result{.id = order_.id, .end = end, .started = started_};
  note("ended", end.reason);
  for (Status status; !(status = result_.publish(result));) {
    // The job may have removed its own attempt: there is no place for a result, and the launcher will say "lost".
    if (own_directory_is_gone()) break;
    note("held", status.error().message);
    ::poll(nullptr, 0, static_cast<int>(kRetry.whole_millis()));
  }
  poke_control();
  ::unlink(kAgentSocket);
  if (cgroup_) {
    // The last process may still be leaving its group.
    for (int i = 0; i < 50 && !cgroup_->remove(); ++i) ::poll(nullptr, 0, 10);
  }
}

void Supervisor::note(const char* event, const std::string& detail, std::optional<pid_t> pid) {
  const OwnedFd file(::open(kEventsFile, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0644));
  if (!file) return;
  const std::string line = encode_event({.at = wall_now(), .event = event, .pid = pid, .detail = detail});
  struct stat info;
  const bool sized = ::fstat(file.get(), &info) == 0;
  const ssize_t n = ::write(file.get(), line.data(), line.size());
  // Half a line would spoil the next one.
  if (n >= 0 && n < static_cast<ssize_t>(line.size()) && sized) (void)!::ftruncate(file.get(), info.st_size);
}

void Supervisor::poke_control() {
  const sockaddr_un address = address_of(kControlSocketFromAttempt);
  const std::string text = order_.id.text();
  const ssize_t n = ::sendto(poke_.get(), text.data(), text.size(), MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const bool full = n < 0 && (errno == EAGAIN || errno == ENOBUFS);
  poke_at_ = full && pokes_left_-- > 0 ? std::optional(monotonic_now() + kPokeAgain) : std::nullopt;
}

}  // namespace teson
