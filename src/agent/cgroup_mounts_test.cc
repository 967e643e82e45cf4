#include "agent/cgroup_mounts.h"

#include <gtest/gtest.h>

#include "agent/cgroup.h"

namespace teson {
namespace {

TEST(CgroupMounts, AHybridHostHasBothKinds) {
  const CgroupPositions positions = parse_cgroup_positions(
      "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
      "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:7 - cgroup cgroup rw,cpu,cpuacct\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
      "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n",
      "4:memory:/user/one\n2:cpu,cpuacct:/\n0::/session\n");
  EXPECT_EQ(positions.v1.at("memory").directory(), "/sys/fs/cgroup/memory/user/one");
  EXPECT_EQ(positions.v1.at("cpu").directory(), "/sys/fs/cgroup/cpu,cpuacct");
  EXPECT_EQ(positions.v1.at("cpuacct").directory(), "/sys/fs/cgroup/cpu,cpuacct");
  ASSERT_TRUE(positions.v2);
  EXPECT_EQ(positions.v2->directory(), "/sys/fs/cgroup/unified/session");
}

TEST(CgroupMounts, AUnifiedHostHasNoV1) {
  const CgroupPositions positions =
      parse_cgroup_positions("30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n",
                             "0::/user.slice/user-1000.slice/session-1.scope\n");
  EXPECT_TRUE(positions.v1.empty());
  EXPECT_EQ(positions.v2->mount, "/sys/fs/cgroup");
  EXPECT_EQ(positions.v2->path, "/user.slice/user-1000.slice/session-1.scope");
}

TEST(CgroupMounts, AContainersMountBeginsBelowTheTop) {
  const char* mounts = "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
  EXPECT_EQ(parse_cgroup_positions(mounts, "4:memory:/docker/abc/x\n").v1.at("memory").directory(),
            "/sys/fs/cgroup/memory/x");
  EXPECT_EQ(parse_cgroup_positions(mounts, "4:memory:/docker/abc\n").v1.at("memory").directory(),
            "/sys/fs/cgroup/memory");
  EXPECT_TRUE(parse_cgroup_positions(mounts, "4:memory:/docker/abcdef\n").v1.empty());
}

TEST(CgroupMounts, BlanksInMountPointsAndColonsInPathsAreRead) {
  EXPECT_EQ(parse_cgroup_positions("30 23 0:26 / /a\\040b rw - cgroup2 cgroup2 rw\n", "0::/x:y\n").v2->directory(),
            "/a b/x:y");
}

TEST(CgroupMounts, GarbageIsNothing) {
  const CgroupPositions positions = parse_cgroup_positions("\n - \n1 2 3 - cgroup\n", "a\n:\n1:memory:/\n");
  EXPECT_TRUE(positions.v1.empty());
  EXPECT_FALSE(positions.v2);
}

TEST(CpuWeight, FollowsRuncsMapping) {
  EXPECT_EQ(cpu_weight_from_shares(2), 1);
  EXPECT_EQ(cpu_weight_from_shares(1024), 39);
  EXPECT_EQ(cpu_weight_from_shares(262144), 10000);
  EXPECT_EQ(cpu_weight_from_shares(1), 1);
}

TEST(CgroupReport, SaysWhatIsMissingOrNothing) {
  const CgroupReport report = describe_cgroups();
  EXPECT_EQ(report.note.empty(), report.memory && report.cpu && report.pids && report.kill) << report.note;
}

}  // namespace
}  // namespace teson
