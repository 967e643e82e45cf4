#include "agent/cgroup.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "agent/cgroup_mounts.h"
#include "agent/process_tree.h"
#include "attempt_dir/files.h"
#include "attempt_dir/leftovers.h"

namespace teson {
namespace {

constexpr const char* kParentName = "/teson";
constexpr const char* kPidsLimit = "32768";

bool write_control(const std::string& path, const std::string& text) {
  const OwnedFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::optional<int64_t> read_number(const std::string& path) {
  const auto text = read_file(path, 4096);
  int64_t value = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc()) return std::nullopt;
  return value;
}

// "name 12" in a file of such lines.
int64_t read_counter(const std::string& path, std::string_view name) {
  const auto text = read_file(path, 65536);
  if (!text) return 0;
  const std::string wanted = std::string(name) + " ";
  size_t begin = 0;
  while (begin < text->size()) {
    if (text->compare(begin, wanted.size(), wanted) == 0) return std::atoll(text->c_str() + begin + wanted.size());
    const size_t end = text->find('\n', begin);
    if (end == std::string::npos) break;
    begin = end + 1;
  }
  return 0;
}

bool holds_word(const std::string& text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || text[at - 1] == ' ') && (end == text.size() || std::strchr(" \n", text[end]))) return true;
  }
  return false;
}

bool has_word(const std::string& path, std::string_view word) {
  const auto text = read_file(path, 4096);
  return text && holds_word(*text, word);
}

bool make_group(const std::string& base, const std::string& name) {
  const std::string parent = base + kParentName;
  if (::mkdir(parent.c_str(), 0755) != 0 && errno != EEXIST) return false;
  return ::mkdir((parent + "/" + name).c_str(), 0755) == 0 || errno == EEXIST;
}

// Root may enter any group; others need rights on the common ancestor too, which only trying shows.
bool can_enter(int group_fd) {
  if (::geteuid() == 0) return true;
  const pid_t pid = fork_into(0, group_fd);
  if (pid == 0) ::_exit(0);
  if (pid < 0) return false;
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return true;
}

// The lines of mountinfo that are about control groups: a host may have thousands of others.
std::optional<std::string> remembered_mounts;

}  // namespace

void remember_cgroup_mounts() {
  static const OwnedFd table(::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
  // proc(5): ready for POLLPRI when something was mounted or unmounted since the last poll.
  pollfd changed{.fd = table.get(), .events = POLLPRI, .revents = 0};
  if (::poll(&changed, 1, 0) == 0 && remembered_mounts) return;
  if (const auto text = read_file("/proc/self/mountinfo")) remembered_mounts = cgroup_mount_lines(*text);
}

CgroupChoice cgroup_choice_from_environment() {
  const char* value = std::getenv("TESON_AGENT_CGROUP");
  const std::string_view text = value != nullptr ? value : "";
  if (text == "none") return CgroupChoice::kNone;
  if (text == "v1") return CgroupChoice::kV1Only;
  if (text == "v2") return CgroupChoice::kV2Only;
  return CgroupChoice::kAll;
}

int64_t cpu_weight_from_shares(int64_t shares) {
  return 1 + ((std::clamp<int64_t>(shares, 2, 262144) - 2) * 9999) / 262142;
}

class CgroupBuilder {
 public:
  CgroupBuilder(std::string name, const Resources& limits) : name_(std::move(name)), limits_(limits) {}

  Cgroup build(CgroupChoice choice) {
    if (!remembered_mounts) remember_cgroup_mounts();
    const auto cgroup = read_file("/proc/self/cgroup");
    if (choice == CgroupChoice::kNone || !remembered_mounts || !cgroup) {
      group_.note_ = "control groups are not used: no memory limit";
      return std::move(group_);
    }
    const CgroupPositions positions = parse_cgroup_positions(*remembered_mounts, *cgroup);
    if (choice != CgroupChoice::kV1Only && positions.v2) build_v2(*positions.v2);
    if (choice != CgroupChoice::kV2Only) build_v1(positions);
    if (!group_.has_memory()) add_note("no memory controller that this user may use: no memory limit");
    if (!group_.has_cpu()) add_note("no CPU controller: no CPU weight");
    if (!group_.has_pids()) add_note("no pids controller: no limit on processes");
    if (!group_.can_kill()) add_note("no group-wide kill");
    return std::move(group_);
  }

 private:
  void build_v2(const CgroupPosition& position) {
    std::vector<std::string> controllers;
    const auto there = read_file(position.mount + "/cgroup.controllers", 4096);
    for (const char* controller : {"memory", "cpu", "pids"}) {
      if (there && holds_word(*there, controller)) controllers.emplace_back(controller);
    }
    std::string path = position.path;
    while (true) {
      if (try_v2(position.mount + path, controllers)) return;
      if (path.empty()) return;
      path.resize(path.rfind('/'));
    }
  }

  // `controllers`: those that this kernel runs in v2. A place without the memory controller is no good if there is one.
  bool try_v2(const std::string& base, const std::vector<std::string>& controllers) {
    if (!make_group(base, name_)) return false;
    const std::string parent = base + kParentName;
    const std::string directory = parent + "/" + name_;
    for (const std::string& controller : controllers) {
      if (!has_word(directory + "/cgroup.controllers", controller)) {
        const std::string word = "+" + controller;
        if (!has_word(parent + "/cgroup.controllers", controller))
          write_control(base + "/cgroup.subtree_control", word);
        write_control(parent + "/cgroup.subtree_control", word);
      }
    }
    const bool want_memory = !controllers.empty() && controllers.front() == "memory";
    const bool memory = want_memory && has_word(directory + "/cgroup.controllers", "memory");
    OwnedFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if ((want_memory && !memory) || !fd || !can_enter(fd.get())) {
      ::rmdir(directory.c_str());
      ::rmdir(parent.c_str());
      return false;
    }
    group_.directories_.push_back(directory);
    group_.clone_fd_ = std::move(fd);
    group_.can_kill_ = exists(directory + "/cgroup.kill");
    if (controllers.empty()) return true;
    if (memory) limit_memory_v2(directory);
    if (has_word(directory + "/cgroup.controllers", "cpu")) {
      const int64_t shares = limits_.milli_vcpus * 1024 / 1000;
      group_.has_cpu_ =
          shares == 0 || write_control(directory + "/cpu.weight", std::to_string(cpu_weight_from_shares(shares)));
    }
    group_.has_pids_ = write_control(directory + "/pids.max", kPidsLimit);
    return true;
  }

  void limit_memory_v2(const std::string& directory) {
    group_.memory_ = Cgroup::Kind::kV2;
    group_.memory_directory_ = directory;
    if (limits_.memory_mib == 0) return;
    if (write_control(directory + "/memory.max", memory_text())) group_.memory_limit_bytes_ = memory_bytes();
    write_control(directory + "/memory.swap.max", "0");
  }

  void build_v1(const CgroupPositions& positions) {
    if (!group_.has_memory()) {
      const std::string directory = join_v1(positions, "memory");
      if (!directory.empty()) limit_memory_v1(directory);
    }
    if (!group_.has_cpu()) {
      const std::string directory = join_v1(positions, "cpu");
      const int64_t shares = std::max<int64_t>(limits_.milli_vcpus * 1024 / 1000, 2);
      group_.has_cpu_ = !directory.empty() &&
                        (limits_.milli_vcpus == 0 || write_control(directory + "/cpu.shares", std::to_string(shares)));
    }
    if (!group_.has_pids()) {
      const std::string directory = join_v1(positions, "pids");
      group_.has_pids_ = !directory.empty() && write_control(directory + "/pids.max", kPidsLimit);
    }
    if (!group_.can_kill()) group_.can_kill_ = !join_v1(positions, "freezer").empty();
  }

  void limit_memory_v1(const std::string& directory) {
    group_.memory_ = Cgroup::Kind::kV1;
    group_.memory_directory_ = directory;
    if (limits_.memory_mib == 0) return;
    if (!write_control(directory + "/memory.limit_in_bytes", memory_text())) return;
    group_.memory_limit_bytes_ = memory_bytes();
    // Memory and swap together: absent where the kernel does not account swap.
    write_control(directory + "/memory.memsw.limit_in_bytes", memory_text());
  }

  // The group's directory; empty if it cannot be had.
  std::string join_v1(const CgroupPositions& positions, const std::string& controller) {
    const auto position = positions.v1.find(controller);
    if (position == positions.v1.end()) return {};
    const std::string base = position->second.directory();
    std::string directory = base + kParentName + "/" + name_;
    if (std::find(group_.directories_.begin(), group_.directories_.end(), directory) != group_.directories_.end()) {
      return directory;  // controllers that are mounted together
    }
    if (!make_group(base, name_)) return {};
    OwnedFd tasks(::open((directory + "/tasks").c_str(), O_WRONLY | O_CLOEXEC));
    if (!tasks) {
      ::rmdir(directory.c_str());
      return {};
    }
    group_.tasks_.push_back(std::move(tasks));
    group_.directories_.push_back(directory);
    return directory;
  }

  int64_t memory_bytes() const { return limits_.memory_mib << 20; }
  std::string memory_text() const { return std::to_string(memory_bytes()); }
  void add_note(const char* text) { group_.note_ += (group_.note_.empty() ? "" : "; ") + std::string(text); }

  std::string name_;
  Resources limits_;
  Cgroup group_;
};

Cgroup Cgroup::create(const std::string& name, const Resources& limits, CgroupChoice choice) {
  return CgroupBuilder(name, limits).build(choice);
}

std::vector<int> Cgroup::task_fds() const {
  std::vector<int> fds;
  fds.reserve(tasks_.size());
  for (const OwnedFd& tasks : tasks_) fds.push_back(tasks.get());
  return fds;
}

std::optional<int64_t> Cgroup::peak_memory_bytes() const {
  if (memory_ == Kind::kV2) return read_number(memory_directory_ + "/memory.peak");
  if (memory_ == Kind::kV1) return read_number(memory_directory_ + "/memory.max_usage_in_bytes");
  return std::nullopt;
}

int64_t Cgroup::oom_kills() const {
  if (memory_ == Kind::kV2) return read_counter(memory_directory_ + "/memory.events", "oom_kill");
  if (memory_ == Kind::kV1) return read_counter(memory_directory_ + "/memory.oom_control", "oom_kill");
  return 0;
}

OomEvents Cgroup::open_oom_events() const {
  if (memory_ == Kind::kV2) {
    return {.fd = OwnedFd(::open((memory_directory_ + "/memory.events").c_str(), O_RDONLY | O_CLOEXEC)),
            .poll_events = POLLPRI};
  }
  if (memory_ != Kind::kV1) return {};
  OomEvents events{.fd = OwnedFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), .poll_events = POLLIN};
  const OwnedFd control(::open((memory_directory_ + "/memory.oom_control").c_str(), O_RDONLY | O_CLOEXEC));
  const std::string order = std::to_string(events.fd.get()) + " " + std::to_string(control.get());
  if (!control || !write_control(memory_directory_ + "/cgroup.event_control", order)) return {};
  return events;
}

bool OomEvents::drain() {
  if (!fd) return false;
  pollfd polled{.fd = fd.get(), .events = poll_events, .revents = 0};
  if (::poll(&polled, 1, 0) <= 0) return false;
  // v1: the eventfd's count. v2: a poll reports what changed since the last read.
  char text[4096];
  (void)!::lseek(fd.get(), 0, SEEK_SET);
  return ::read(fd.get(), text, sizeof text) > 0;
}

void Cgroup::kill_all() const {
  if (!can_kill_) return;
  for (const std::string& directory : directories_) {
    if (exists(directory + "/cgroup.kill") || exists(directory + "/freezer.state")) return kill_cgroup(directory);
  }
}

bool Cgroup::remove() const {
  bool all = true;
  for (const std::string& directory : directories_) all = remove_cgroup(directory) && all;
  return all;
}

CgroupReport describe_cgroups() {
  const Resources limits{.milli_vcpus = 1000, .memory_mib = 64};
  const Cgroup group = Cgroup::create("probe-" + std::to_string(::getpid()), limits, cgroup_choice_from_environment());
  CgroupReport report{.memory = group.memory_limit_bytes() > 0,
                      .cpu = group.has_cpu(),
                      .pids = group.has_pids(),
                      .kill = group.can_kill(),
                      .directories = {},
                      .note = group.note()};
  for (const std::string& directory : group.directories()) {
    report.directories.push_back(directory.substr(0, directory.rfind('/')));
  }
  group.remove();
  return report;
}

}  // namespace teson
