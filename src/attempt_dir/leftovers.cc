#include "attempt_dir/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "attempt_dir/files.h"
#include "base/process_stat.h"

namespace teson {
namespace {

using Directory = std::unique_ptr<DIR, int (*)(DIR*)>;

Directory open_directory(const std::string& path) { return {::opendir(path.c_str()), ::closedir}; }

void pause_millis(long n) {
  const timespec time{.tv_sec = n / 1000, .tv_nsec = (n % 1000) * 1'000'000};
  ::nanosleep(&time, nullptr);
}

int64_t monotonic_micros() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

std::optional<pid_t> to_pid(std::string_view text) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc() || end != text.data() + text.size() || pid <= 0) return std::nullopt;
  return pid;
}

template <class Visit>
void each_process(Visit visit) {
  const Directory proc = open_directory("/proc");
  if (!proc) return;
  while (const dirent* entry = ::readdir(proc.get())) {
    if (const auto pid = to_pid(entry->d_name)) visit(*pid);
  }
}

template <class Visit>
void each_subdirectory(const std::string& path, Visit visit) {
  const Directory directory = open_directory(path);
  if (!directory) return;
  while (const dirent* entry = ::readdir(directory.get())) {
    if (entry->d_type == DT_DIR && entry->d_name[0] != '.') visit(path + "/" + entry->d_name);
  }
}

bool write_control(const std::string& path, std::string_view text) {
  const OwnedFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

void collect_members(const std::string& directory, std::vector<pid_t>& members) {
  if (const auto text = read_file(directory + "/cgroup.procs")) {
    size_t begin = 0;
    for (size_t end; (end = text->find('\n', begin)) != std::string::npos; begin = end + 1) {
      if (const auto pid = to_pid(std::string_view(*text).substr(begin, end - begin))) members.push_back(*pid);
    }
  }
  each_subdirectory(directory, [&](const std::string& below) { collect_members(below, members); });
}

bool has_marker(pid_t pid, std::string_view marker) {
  const auto text = read_file("/proc/" + std::to_string(pid) + "/environ", size_t{64} << 20);
  if (!text) return false;
  for (size_t at = text->find(marker); at != std::string::npos; at = text->find(marker, at + 1)) {
    const size_t end = at + marker.size();
    const bool begins = at == 0 || (*text)[at - 1] == '\0';
    if (begins && (end == text->size() || (*text)[end] == '\0')) return true;
  }
  return false;
}

bool is_member(const std::string& directory, pid_t pid) {
  const auto members = cgroup_members(directory);
  return std::find(members.begin(), members.end(), pid) != members.end();
}

// A v1 group that stands still cannot fork away from the killing.
void kill_frozen(const std::string& directory) {
  write_control(directory + "/freezer.state", "FROZEN");
  for (int i = 0; i < 20; ++i) {
    const auto state = read_file(directory + "/freezer.state", 64);
    if (!state || state->starts_with("FROZEN")) break;
    pause_millis(1);
  }
  for (const pid_t pid : cgroup_members(directory)) {
    signal_pinned(pid, SIGKILL, [&](pid_t p) { return is_member(directory, p); });
  }
  write_control(directory + "/freezer.state", "THAWED");
}

}  // namespace

std::vector<pid_t> cgroup_members(const std::string& directory) {
  std::vector<pid_t> members;
  collect_members(directory, members);
  return members;
}

void kill_cgroup(const std::string& directory) {
  if (write_control(directory + "/cgroup.kill", "1")) return;
  if (exists(directory + "/freezer.state")) return kill_frozen(directory);
  for (const pid_t pid : cgroup_members(directory)) {
    signal_pinned(pid, SIGKILL, [&](pid_t p) { return is_member(directory, p); });
  }
}

bool remove_cgroup(const std::string& directory) {
  if (::rmdir(directory.c_str()) == 0) return true;
  if (errno == ENOENT) return true;
  each_subdirectory(directory, [](const std::string& below) { remove_cgroup(below); });
  return ::rmdir(directory.c_str()) == 0 || errno == ENOENT;
}

std::vector<pid_t> descendants_of(pid_t ancestor) {
  std::map<pid_t, ProcessStat> processes;
  each_process([&](pid_t pid) {
    if (const auto stat = read_process_stat(pid)) processes.emplace(pid, *stat);
  });
  std::multimap<pid_t, pid_t> children;
  for (const auto& [pid, stat] : processes) children.emplace(stat.parent, pid);

  std::vector<pid_t> found;
  std::vector<pid_t> queue = {ancestor};
  std::set<pid_t> seen = {ancestor};
  while (!queue.empty()) {
    const pid_t parent = queue.back();
    queue.pop_back();
    for (auto [at, end] = children.equal_range(parent); at != end; ++at) {
      const pid_t child = at->second;
      if (!seen.insert(child).second) continue;
      queue.push_back(child);
      if (processes[child].state != 'Z') found.push_back(child);
    }
  }
  return found;
}

bool is_descendant(pid_t pid, pid_t ancestor) {
  // Bounded, since what is read may change while we climb.
  for (int height = 0; height < 4096 && pid > 1; ++height) {
    const auto stat = read_process_stat(pid);
    if (!stat) return false;
    if (stat->parent == ancestor) return true;
    pid = stat->parent;
  }
  return false;
}

std::vector<pid_t> processes_with_marker(std::string_view marker) {
  std::vector<pid_t> found;
  const pid_t self = ::getpid();
  each_process([&](pid_t pid) {
    if (pid != self && has_marker(pid, marker)) found.push_back(pid);
  });
  return found;
}

bool is_suspended(pid_t pid) {
  const auto stat = read_process_stat(pid);
  return stat && stat->state == 'T';
}

OwnedFd signal_pinned(pid_t pid, int signal, const std::function<bool(pid_t)>& still_right) {
  OwnedFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process || !still_right(pid)) return {};
  ::syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0);
  return process;
}

namespace {

// False: not by then.
bool await_end(const OwnedFd& process, int64_t deadline_micros) {
  pollfd polled{.fd = process.get(), .events = POLLIN, .revents = 0};
  const int64_t left = std::max<int64_t>(deadline_micros - monotonic_micros(), 0);
  return ::poll(&polled, 1, static_cast<int>(left / 1000)) > 0;
}

}  // namespace

bool kill_leftovers(const std::string& marker, const std::vector<std::string>& cgroups, Duration patience) {
  const int64_t deadline = monotonic_micros() + patience.micros;
  std::vector<OwnedFd> killed;
  for (long wait = 1;; wait = std::min(wait * 2, 50L)) {
    bool clean = true;
    for (const std::string& directory : cgroups) {
      if (cgroup_members(directory).empty()) continue;
      clean = false;
      kill_cgroup(directory);
    }
    for (const pid_t pid : processes_with_marker(marker)) {
      clean = false;
      OwnedFd process = signal_pinned(pid, SIGKILL, [&](pid_t p) { return has_marker(p, marker); });
      if (process) killed.push_back(std::move(process));
    }
    if (clean) break;
    if (monotonic_micros() >= deadline) return false;
    pause_millis(wait);
  }
  // One that dies has no environment any more, but its files and locks for a moment longer.
  for (const OwnedFd& process : killed) {
    if (!await_end(process, deadline)) return false;
  }
  for (const std::string& directory : cgroups) remove_cgroup(directory);
  return true;
}

}  // namespace teson
