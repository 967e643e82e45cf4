#include "agent/cgroup_mounts.h"

#include <vector>

namespace teson {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(separator);
    if (at == std::string_view::npos) break;
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  parts.push_back(text);
  return parts;
}

// Blanks in mountinfo are written as \040.
std::string unescape(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

struct Mount {
  std::string root;
  std::string point;
};

// The mount shows the hierarchy from `root` down, as a container sees it; a position outside of it is not reachable.
std::optional<CgroupPosition> place(const Mount& mount, std::string_view path) {
  if (mount.root != "/") {
    if (!path.starts_with(mount.root)) return std::nullopt;
    path.remove_prefix(mount.root.size());
    if (!path.empty() && path.front() != '/') return std::nullopt;
  }
  if (path == "/") path = "";
  return CgroupPosition{mount.point, std::string(path)};
}

}  // namespace

std::string cgroup_mount_lines(std::string_view mountinfo) {
  std::string lines;
  for (const std::string_view line : split(mountinfo, '\n')) {
    if (line.find(" - cgroup") != std::string_view::npos) lines.append(line).append("\n");
  }
  return lines;
}

CgroupPositions parse_cgroup_positions(std::string_view mountinfo, std::string_view cgroup) {
  std::map<std::string, Mount, std::less<>> by_controller;
  std::optional<Mount> unified;
  for (const std::string_view line : split(mountinfo, '\n')) {
    // id parent dev root point options [optional...] - type source super-options
    const size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const auto before = split(line.substr(0, dash), ' ');
    const auto after = split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.size() < 3) continue;
    const Mount mount{unescape(before[3]), unescape(before[4])};
    if (after[0] == "cgroup2") unified = mount;
    if (after[0] != "cgroup") continue;
    for (const std::string_view option : split(after[2], ',')) by_controller.emplace(option, mount);
  }

  CgroupPositions positions;
  for (const std::string_view line : split(cgroup, '\n')) {
    const auto fields = split(line, ':');
    if (fields.size() < 3) continue;
    const std::string_view path = line.substr(fields[0].size() + fields[1].size() + 2);
    if (fields[1].empty()) {
      if (unified) positions.v2 = place(*unified, path);
      continue;
    }
    for (const std::string_view controller : split(fields[1], ',')) {
      const auto mount = by_controller.find(controller);
      if (mount == by_controller.end()) continue;
      if (auto position = place(mount->second, path)) positions.v1.emplace(controller, std::move(*position));
    }
  }
  return positions;
}

}  // namespace teson
