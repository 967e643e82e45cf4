#include "adapters/host_linux/cgroup_limits.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>
#include <vector>

#include "adapters/host_linux/text_file.h"

namespace teson {
namespace {

// A line of /proc/self/mountinfo [proc(5)]: where a hierarchy is mounted, and which of its groups is shown there.
struct CgroupMount {
  std::string shown;  // the group at the mount point, "/" unless bind-mounted
  std::string point;
  bool v2 = false;
  std::string controllers;  // v1: the super options
};

std::vector<CgroupMount> read_mounts(const std::string& root) {
  std::vector<CgroupMount> mounts;
  const auto text = read_text_file(root + "/proc/self/mountinfo");
  if (!text) return mounts;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string skipped, word, type, source;
    CgroupMount mount;
    words >> skipped >> skipped >> skipped >> mount.shown >> mount.point;
    while (words >> word && word != "-") continue;
    words >> type >> source >> mount.controllers;
    mount.v2 = type == "cgroup2";
    if (mount.v2 || type == "cgroup") mounts.push_back(std::move(mount));
  }
  return mounts;
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == word) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

// Our group in a hierarchy: /proc/self/cgroup has "id:controllers:path", "0::path" for v2.
std::optional<std::string> own_group(const std::string& memberships, bool v2, std::string_view controller) {
  std::istringstream lines(memberships);
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    if (v2 ? controllers.empty() : has_word(controllers, controller)) return line.substr(second + 1);
  }
  return std::nullopt;
}

// The directories of our group and its parents, up to the mount point.
std::vector<std::string> directories(const std::string& root, const CgroupMount& mount, std::string group) {
  // In a container the mount often shows our own group as "/", while the membership has the host's path.
  if (mount.shown != "/" && group.starts_with(mount.shown)) group.erase(0, mount.shown.size());
  const std::string top = root + mount.point;
  std::vector<std::string> found;
  while (true) {
    while (group.ends_with('/')) group.pop_back();
    found.push_back(top);
    found.back() += group;
    if (group.empty()) return found;
    group.erase(group.rfind('/'));
  }
}

// A number, or nothing for "max" and for what is no number.
std::optional<int64_t> parse_number(std::string_view text) {
  text = trimmed(text);
  int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<int64_t> read_number(const std::string& path) {
  const auto text = read_text_file(path);
  return text ? parse_number(*text) : std::nullopt;
}

std::optional<int64_t> quota(std::optional<int64_t> microseconds, std::optional<int64_t> period) {
  if (!microseconds || !period || *microseconds <= 0 || *period <= 0) return std::nullopt;
  return std::max<int64_t>(1, *microseconds * 1000 / *period);
}

// "max 100000" or "150000 100000" [Documentation/admin-guide/cgroup-v2.rst, cpu.max].
std::optional<int64_t> quota_v2(const std::string& directory) {
  const auto text = read_text_file(directory + "/cpu.max");
  if (!text) return std::nullopt;
  const size_t space = text->find(' ');
  if (space == std::string::npos) return std::nullopt;
  return quota(parse_number(text->substr(0, space)), parse_number(text->substr(space)));
}

std::optional<int64_t> quota_v1(const std::string& directory) {
  return quota(read_number(directory + "/cpu.cfs_quota_us"), read_number(directory + "/cpu.cfs_period_us"));
}

void tighten(std::optional<int64_t>& limit, std::optional<int64_t> found) {
  if (found && (!limit || *found < *limit)) limit = found;
}

// v1 says "no limit" with a huge number (PAGE_COUNTER_MAX pages); it is larger than any machine and does no harm.
void read_group(const std::string& directory, bool v2, bool cpu, bool memory, CgroupLimits& limits) {
  if (cpu) tighten(limits.milli_cpus, v2 ? quota_v2(directory) : quota_v1(directory));
  if (memory) {
    const auto bytes = read_number(directory + (v2 ? "/memory.max" : "/memory.limit_in_bytes"));
    if (bytes && *bytes >= 0) tighten(limits.memory_bytes, bytes);
  }
}

}  // namespace

CgroupLimits read_cgroup_limits(const std::string& root) {
  CgroupLimits limits;
  const auto memberships = read_text_file(root + "/proc/self/cgroup");
  if (!memberships) return limits;
  for (const CgroupMount& mount : read_mounts(root)) {
    const bool cpu = mount.v2 || has_word(mount.controllers, "cpu");
    const bool memory = mount.v2 || has_word(mount.controllers, "memory");
    if (!cpu && !memory) continue;
    const auto group = own_group(*memberships, mount.v2, cpu ? "cpu" : "memory");
    if (!group) continue;
    for (const std::string& directory : directories(root, mount, *group)) {
      read_group(directory, mount.v2, cpu, memory, limits);
    }
  }
  return limits;
}

}  // namespace teson
