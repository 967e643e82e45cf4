// Where the control group hierarchies are mounted and where in them this process is. Parsing is pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace teson {

struct CgroupPosition {
  std::string mount;  // "/sys/fs/cgroup/memory"
  std::string path;   // below it: "/user.slice", or "" at the top

  std::string directory() const { return mount + path; }
};

struct CgroupPositions {
  std::map<std::string, CgroupPosition> v1;  // by controller
  std::optional<CgroupPosition> v2;
};

// The lines of /proc/self/mountinfo that parse_cgroup_positions() looks at.
std::string cgroup_mount_lines(std::string_view mountinfo);

// From the texts of /proc/self/mountinfo and /proc/self/cgroup.
CgroupPositions parse_cgroup_positions(std::string_view mountinfo, std::string_view cgroup);

}  // namespace teson
