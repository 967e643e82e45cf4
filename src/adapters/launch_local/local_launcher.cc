#include "adapters/launch_local/local_launcher.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <limits>

#include "adapters/launch_local/attempt_files.h"
#include "adapters/launch_local/clocks.h"
#include "adapters/launch_local/control_socket.h"
#include "adapters/launch_local/spawn.h"
#include "adapters/launch_local/tracked.h"
#include "attempt_dir/files.h"
#include "attempt_dir/leftovers.h"
#include "base/descriptor_limit.h"

namespace teson {
namespace {

constexpr uint64_t kControlKey = 1;
constexpr uint64_t kWakeKey = 2;
constexpr size_t kLargestDatagram = 512;
constexpr Duration kNever = Duration::seconds(int64_t{1} << 40);  // not by the clock

bool holds_nul(const LaunchOrder& order) {
  const auto in = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  return std::any_of(order.command.begin(), order.command.end(), in) ||
         std::any_of(order.environment.begin(), order.environment.end(),
                     [&](const auto& variable) { return in(variable.first) || in(variable.second); });
}

}  // namespace

Result<std::unique_ptr<LocalLauncher>> LocalLauncher::open(const std::string& data_directory, ReportSink sink,
                                                           LocalLauncherOptions options) {
  std::unique_ptr<LocalLauncher> launcher(new LocalLauncher(data_directory, std::move(sink), std::move(options)));
  if (const Status status = launcher->set_up(); !status) return std::unexpected(status.error());
  launcher->thread_ = std::thread([raw = launcher.get()] { raw->serve(); });
  return launcher;
}

LocalLauncher::LocalLauncher(std::string data_directory, ReportSink sink, LocalLauncherOptions options)
    : data_(std::move(data_directory)), sink_(std::move(sink)), options_(std::move(options)) {}

Status LocalLauncher::set_up() {
  auto program = open_agent_program(options_.agent_program, options_.agent_image);
  if (!program) return std::unexpected(program.error());
  program_ = std::move(*program);
  const AttemptId longest{JobId{}, std::numeric_limits<int>::max()};
  if (options_.use_nursery) {
    nursery_.emplace(program_path(), attempt_paths(data_, longest).directory.size(), options_.nursery_patience);
  }
  if (const Status status = make_directories(data_ + "/attempts"); !status) return status;

  auto control = open_control_socket(data_);
  if (!control) return std::unexpected(control.error());
  control_ = std::move(*control);

  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  wake_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  for (const auto& [fd, key] : {std::pair{control_.get(), kControlKey}, std::pair{wake_.get(), kWakeKey}}) {
    epoll_event event{.events = EPOLLIN, .data = {.u64 = key}};
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) return errno_error("cannot watch descriptors");
  }
  return {};
}

LocalLauncher::~LocalLauncher() {
  stopping_ = true;
  if (thread_.joinable()) {
    wake();
    thread_.join();
    ::unlink((data_ + "/" + kControlSocket).c_str());
  }
}

void LocalLauncher::wake() {
  const uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

LocalLauncher::Tracked* LocalLauncher::find(const AttemptId& id) {
  const auto tracked = tracked_.find(id);
  return tracked == tracked_.end() ? nullptr : &tracked->second;
}

void LocalLauncher::watch_process(Tracked& tracked, const AttemptId& id, OwnedFd pidfd) {
  if (tracked.watched || !pidfd) return;
  const Key key = next_key_++;
  epoll_event event{.events = EPOLLIN, .data = {.u64 = key}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, pidfd.get(), &event) != 0) return;
  processes_.emplace(key, Process{id, std::move(pidfd)});
  tracked.watched = true;
}

void LocalLauncher::look_soon(const AttemptId& id) {
  changed_.push_back(id);
  wake();
}

void LocalLauncher::launch(const LaunchOrder& order) {
  std::vector<AttemptReport> reports;
  {
    const std::lock_guard guard(mutex_);
    if (find(order.id)) return;
    Tracked& tracked = tracked_[order.id];
    tracked.order = order;
    if (order.after && find(*order.after)) {
      tracked.retry_at = kNever;
      followers_.insert_or_assign(*order.after, order.id);
    } else {
      try_launch(order.id, tracked, reports);
    }
  }
  for (AttemptReport& report : reports) sink_(std::move(report));
}

// Leaves the attempt tracked as running, or held for later, or dropped with a report.
void LocalLauncher::try_launch(const AttemptId& id, Tracked& tracked, std::vector<AttemptReport>& reports) {
  const Status status = start_agent(*tracked.order, tracked);
  if (status) {
    tracked.order.reset();
    return;
  }
  if (status.error().kind == ErrorKind::kUnavailable) {
    tracked.retry_at = launch_monotonic_now() + options_.retry;
    wake();
    return;
  }
  reports.push_back({id, AttemptEndedReport{failed_launch("CannotStartContainerError: " + status.error().message)}});
  const auto ahead = tracked.order->after;
  tracked_.erase(id);
  release_follower(id, ahead, reports);
}

Status LocalLauncher::start_agent(const LaunchOrder& order, Tracked& tracked) {
  if (!has_descriptors()) return fail(ErrorKind::kUnavailable, "too many files are open");
  const AttemptPaths paths = attempt_paths(data_, order.id);
  if (const Status status = make_directories(paths.file(kWorkDirectory)); !status) return status;
  if (const Status status = make_directories(paths.checkpoints); !status) return status;
  auto lock = claim(paths, order.id);
  if (!lock) return std::unexpected(lock.error());
  if (!*lock) return {};
  if (holds_nul(order))
    return invalid("the command or environment holds a NUL character, which no program can be given");
  LaunchOrder complete = order;
  if (options_.account_of) {
    auto account = options_.account_of(order.owner);
    if (!account) return std::unexpected(account.error());
    complete.account = std::move(*account);
  }
  if (complete.account) {
    if (const Status status = give_places(paths, *complete.account); !status) return status;
  }
  auto spec = encode_order(complete);
  if (!spec) return std::unexpected(spec.error());
  if (const Status status = write_file(paths.file(kSpecFile), *spec, Durability::kRenameOnly); !status) return status;
  return new_agent(paths, order.id, tracked, std::move(*lock));
}

// One for each agent that is watched. Half of all are the clients', some the journal's and the logs'.
bool LocalLauncher::has_descriptors() const {
  constexpr uint64_t kOthers = 32;
  return processes_.size() < std::max(descriptor_limit() / 2, kOthers + 1) - kOthers;
}

// Nobody holds the attempt's lock but us, until an agent does.
Status LocalLauncher::new_agent(const AttemptPaths& paths, const AttemptId& id, Tracked& tracked, OwnedFd lock) {
  tracked.lock = identity_of(lock.get());
  if (nursery_) {
    auto forked = nursery_->fork_agent(paths.directory, lock.get());
    if (forked) {
      watch_process(tracked, id, std::move(forked->process));
      return {};
    }
    if (forked.error() == NurseryClient::Miss::kNoMemory) {
      return fail(ErrorKind::kUnavailable, "cannot make a process: the system has no more, or no memory for one");
    }
    if (forked.error() == NurseryClient::Miss::kUnknown) {
      // Our own descriptor holds the agent's lock too, if there is an agent: only without it can the lock tell.
      lock.reset();
      auto again = claim(paths, id);
      if (!again) return std::unexpected(again.error());
      if (!*again) return {};
      lock = std::move(*again);
    }
  }
  auto spawned =
      spawn_detached(program_path(), {"teson", "agent", paths.directory, std::to_string(kInheritedFd)}, lock.get());
  if (!spawned) return std::unexpected(spawned.error());
  watch_process(tracked, id, std::move(spawned->process));
  return {};
}

// The attempt's lock, held from now on; empty: it was launched before, by us or by a server that is gone, and the
// directory says what became of it.
Result<OwnedFd> LocalLauncher::claim(const AttemptPaths& paths, const AttemptId& id) {
  auto lock = open_lock(paths.file(kLockFile), false);
  if (!lock) return std::unexpected(lock.error());
  if (try_lock(*lock) && !read_lock_record(lock->get()) && !exists(paths.result())) return lock;
  look_soon(id);
  return OwnedFd();
}

std::string LocalLauncher::program_path() const { return fmt::format("/proc/self/fd/{}", program_.get()); }

void LocalLauncher::stop(const AttemptId& id, Duration grace) {
  std::vector<AttemptReport> reports;
  {
    const std::lock_guard guard(mutex_);
    Tracked* tracked = find(id);
    if (tracked && !tracked->kill_agent_at)
      tracked->kill_agent_at = launch_monotonic_now() + grace + options_.stop_margin;
    if (tracked && tracked->order) {
      // Held and never started: there is nothing to wait for.
      AttemptEnd end = failed_launch("");
      end.cause = EndCause::kStopped;
      end.status_reason = "Stopped before the program started";
      reports.push_back({id, AttemptEndedReport{std::move(end)}});
      const auto ahead = tracked->order->after;
      tracked_.erase(id);
      if (ahead) followers_.erase(*ahead);
      release_follower(id, ahead, reports);
    }
  }
  if (!reports.empty()) {
    for (AttemptReport& report : reports) sink_(std::move(report));
    return;
  }

  const AttemptPaths paths = attempt_paths(data_, id);
  if (!exists(paths.directory)) return;
  const std::string text = encode_stop(grace);
  // The first one stands. On a full disk the datagram alone must do.
  if (!exists(paths.file(kStopFile))) (void)write_file(paths.file(kStopFile), text, Durability::kRenameOnly, 0644);
  const OwnedFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const SocketAddress address(paths.directory, kAgentSocket);
  ::sendto(socket.get(), text.data(), text.size(), MSG_NOSIGNAL, address.get(), SocketAddress::size());
}

AttemptFinding LocalLauncher::settle(const AttemptId& id) {
  const AttemptPaths paths = attempt_paths(data_, id);
  AttemptFinding finding = AttemptUnknown{};
  std::optional<directory_state::Orphaned> orphan;
  {
    const std::lock_guard guard(mutex_);
    if (const Tracked* tracked = find(id); tracked && tracked->order) return AttemptAlive{};
    DirectoryState state = read_directory_state(paths);
    if (auto* running = std::get_if<directory_state::Running>(&state)) {
      Tracked& tracked = tracked_[id];
      if (running->record) watch_process(tracked, id, open_agent(*running->record));
      tracked.started_reported = running->started.has_value();
      tracked.lock = running->lock;
      return AttemptAlive{running->started};
    }
    tracked_.erase(id);
    if (auto* ended = std::get_if<directory_state::Ended>(&state)) {
      finding = AttemptEndedReport{std::move(ended->result.end)};
    } else if (auto* spoilt = std::get_if<directory_state::Spoilt>(&state)) {
      finding = AttemptLostReport{launch_wall_now(), spoilt->detail};
    } else if (auto* orphaned = std::get_if<directory_state::Orphaned>(&state)) {
      orphan = std::move(*orphaned);
    }
  }
  if (orphan) {
    finding = clear_up(id, orphan->record, orphan->detail);
  } else if (std::holds_alternative<AttemptUnknown>(finding)) {
    // No directory: never launched, or removed since. Nothing of it may live beside what is launched next.
    clear_up(id, {}, {});
  }
  release_followers_of({&id, 1});
  return finding;
}

void LocalLauncher::forget(std::span<const AttemptId> ids) {
  {
    const std::lock_guard guard(mutex_);
    for (const AttemptId& id : ids) {
      tracked_.erase(id);
      if (options_.keep_work != KeepWork::kAll) to_prune_.push_back(id);
    }
    if (!to_prune_.empty()) wake();
  }
  release_followers_of(ids);
}

void LocalLauncher::serve() {
  Duration next_sweep = launch_monotonic_now() + options_.sweep;
  while (!stopping_) {
    epoll_event events[64];
    const int n = ::epoll_wait(epoll_.get(), events, 64, wait_millis(next_sweep));
    for (int i = 0; i < n; ++i) {
      const uint64_t key = events[i].data.u64;
      uint64_t count;
      if (key == kControlKey) {
        read_control();
      } else if (key == kWakeKey) {
        (void)!::read(wake_.get(), &count, sizeof count);
      } else {
        process_ended(key);
      }
    }
    look_at_changed();
    retry_held();
    if (launch_monotonic_now() >= next_sweep) {
      sweep();
      next_sweep = launch_monotonic_now() + options_.sweep;
    }
    prune();
  }
}

int LocalLauncher::wait_millis(Duration next_sweep) {
  const std::lock_guard guard(mutex_);
  Duration next = next_sweep;
  for (const auto& [id, tracked] : tracked_) {
    if (tracked.order) next = std::min(next, tracked.retry_at);
  }
  return static_cast<int>(std::max<int64_t>((next - launch_monotonic_now()).whole_millis() + 1, 0));
}

void LocalLauncher::read_control() {
  const std::lock_guard guard(mutex_);
  char text[kLargestDatagram];
  ssize_t n;
  while ((n = ::recv(control_.get(), text, sizeof text, 0)) >= 0) {
    const auto id = parse_attempt_id({text, static_cast<size_t>(n)});
    const Tracked* tracked = id ? find(*id) : nullptr;
    // Of the end its process tells, and not before: the agent holds the lock until then.
    if (tracked && !(tracked->watched && tracked->started_reported)) changed_.push_back(*id);
  }
}

void LocalLauncher::process_ended(Key key) {
  const std::lock_guard guard(mutex_);
  const auto process = processes_.find(key);
  if (process == processes_.end()) return;
  siginfo_t info;
  // Fails for an adopted agent, which is not our child.
  ::waitid(P_PIDFD, static_cast<id_t>(process->second.pidfd.get()), &info, WEXITED | WNOHANG);
  if (Tracked* tracked = find(process->second.id)) {
    tracked->watched = false;
    changed_.push_back(process->second.id);
  }
  processes_.erase(process);
}

void LocalLauncher::look_at_changed() {
  std::vector<AttemptId> ids;
  {
    const std::lock_guard guard(mutex_);
    ids.swap(changed_);
  }
  for (const AttemptId& id : ids) look(id, Care::kRead);
}

void LocalLauncher::retry_held() {
  std::vector<AttemptReport> reports;
  {
    const std::lock_guard guard(mutex_);
    const Duration now = launch_monotonic_now();
    std::vector<AttemptId> due;
    for (const auto& [id, tracked] : tracked_) {
      if (tracked.order && tracked.retry_at <= now) due.push_back(id);
    }
    for (const AttemptId& id : due) try_launch(id, tracked_.at(id), reports);
  }
  for (AttemptReport& report : reports) sink_(std::move(report));
}

void LocalLauncher::sweep() {
  std::vector<AttemptId> all;
  {
    const std::lock_guard guard(mutex_);
    for (const auto& [id, tracked] : tracked_) all.push_back(id);
  }
  for (const AttemptId& id : all) look(id, Care::kTend);
}

}  // namespace teson
