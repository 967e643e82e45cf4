#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "adapters/host_linux/linux_host_probe.h"
#include "adapters/host_linux/system_clock.h"

namespace teson {
namespace {

namespace fs = std::filesystem;

// A made-up /proc and /sys.
class HostProbeTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "teson-host-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    put("/proc/meminfo", "MemTotal:       16777216 kB\nMemFree:         1000000 kB\n");  // 16 GiB
    put("/proc/sys/kernel/random/boot_id", "0d5d2a3c-9b4e-4c1f-8a57-2f6f0c1b9e77\n");
  }
  void TearDown() override { fs::remove_all(root_); }
  void put(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  HostFacts probe(const std::string& nvml = "libteson-no-such-library.so.1") {
    auto facts = LinuxHostProbe({root_, nvml, 8}).probe();
    EXPECT_TRUE(facts.has_value()) << facts.error().message;
    return facts.value_or(HostFacts{});
  }
  void mount_v2() {
    put("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
    put("/proc/self/cgroup", "0::/system.slice/teson.service\n");
  }
  static constexpr const char* kOwn = "/sys/fs/cgroup/system.slice/teson.service";
  static constexpr const char* kParent = "/sys/fs/cgroup/system.slice";

  std::string root_;
};

TEST_F(HostProbeTest, WithoutCgroupsTheMachineLessTheReserveIsUsable) {
  const HostFacts facts = probe();
  EXPECT_EQ(facts.milli_vcpus, 8'000);
  EXPECT_EQ(facts.total_memory_mib, 16'384);
  EXPECT_EQ(facts.usable_memory_mib, 15'564);  // less 5 %: 819.2 MiB
  EXPECT_EQ(facts.boot_id, "0d5d2a3c-9b4e-4c1f-8a57-2f6f0c1b9e77");
}

TEST_F(HostProbeTest, TheReserveIsAtLeast256Mib) {
  put("/proc/meminfo", "MemTotal: 2097152 kB\n");  // 2 GiB, of which 5 % would be 102 MiB
  EXPECT_EQ(probe().usable_memory_mib, 2'048 - 256);
  put("/proc/meminfo", "MemTotal: 131072 kB\n");
  EXPECT_EQ(probe().usable_memory_mib, 0);
}

TEST_F(HostProbeTest, V2LimitsOfTheOwnGroupAndOfItsParentsHold) {
  mount_v2();
  put(std::string(kOwn) + "/cpu.max", "max 100000\n");
  put(std::string(kOwn) + "/memory.max", "max\n");
  put(std::string(kParent) + "/cpu.max", "250000 100000\n");
  put(std::string(kParent) + "/memory.max", "8589934592\n");  // 8 GiB
  HostFacts facts = probe();
  EXPECT_EQ(facts.milli_vcpus, 2'500);
  EXPECT_EQ(facts.total_memory_mib, 16'384);
  EXPECT_EQ(facts.usable_memory_mib, 7'782);  // 8192 less 409.6
  put(std::string(kOwn) + "/cpu.max", "50000 100000\n");
  put(std::string(kOwn) + "/memory.max", "1073741824\n");
  facts = probe();
  EXPECT_EQ(facts.milli_vcpus, 500);
  EXPECT_EQ(facts.usable_memory_mib, 1'024 - 256);
}

TEST_F(HostProbeTest, V2QuotaAboveTheAffinityChangesNothing) {
  mount_v2();
  put(std::string(kOwn) + "/cpu.max", "3200000 100000\n");
  EXPECT_EQ(probe().milli_vcpus, 8'000);
}

TEST_F(HostProbeTest, V1HierarchiesOfTheirOwnAreRead) {
  put("/proc/self/mountinfo",
      "31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "32 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
      "33 30 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n");
  put("/proc/self/cgroup", "4:memory:/lab/me\n3:cpu,cpuacct:/lab\n2:cpuset:/\n");
  put("/sys/fs/cgroup/memory/lab/me/memory.limit_in_bytes", "9223372036854771712\n");
  put("/sys/fs/cgroup/memory/lab/memory.limit_in_bytes", "4294967296\n");
  put("/sys/fs/cgroup/cpu,cpuacct/lab/cpu.cfs_quota_us", "300000\n");
  put("/sys/fs/cgroup/cpu,cpuacct/lab/cpu.cfs_period_us", "100000\n");
  put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  const HostFacts facts = probe();
  EXPECT_EQ(facts.milli_vcpus, 3'000);
  EXPECT_EQ(facts.usable_memory_mib, 4'096 - 256);
}

TEST_F(HostProbeTest, AContainersOwnGroupAtTheMountPointIsFound) {
  put("/proc/self/mountinfo", "31 30 0:27 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  put("/proc/self/cgroup", "4:memory:/docker/abc\n");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n");
  EXPECT_EQ(probe().usable_memory_mib, 2'048 - 256);
}

TEST_F(HostProbeTest, AMachineWithoutProcIsAnErrorThatNamesTheFile) {
  fs::remove(root_ + "/proc/meminfo");
  auto facts = LinuxHostProbe({root_, "none", 1}).probe();
  ASSERT_FALSE(facts.has_value());
  EXPECT_NE(facts.error().message.find("/proc/meminfo"), std::string::npos) << facts.error().message;
  put("/proc/meminfo", "MemFree: 1 kB\n");
  facts = LinuxHostProbe({root_, "none", 1}).probe();
  ASSERT_FALSE(facts.has_value());
  EXPECT_NE(facts.error().message.find("has no MemTotal"), std::string::npos) << facts.error().message;
}

TEST_F(HostProbeTest, GpusAreListedWithTheirMemory) {
  const HostFacts facts = probe(STUB_TWO_GPUS);
  ASSERT_EQ(facts.gpus.size(), 2u) << facts.gpu_note;
  EXPECT_EQ(facts.gpus[0].index, 0);
  EXPECT_EQ(facts.gpus[0].uuid, "GPU-00000000-0000-0000-0000-000000000000");
  EXPECT_EQ(facts.gpus[0].name, "Stub Accelerator");
  EXPECT_EQ(facts.gpus[0].memory_mib, 16'384);
  EXPECT_EQ(facts.gpus[1].index, 1);
  EXPECT_EQ(facts.gpus[1].memory_mib, 24'576);
  EXPECT_EQ(facts.gpu_note, "");
}

TEST_F(HostProbeTest, WithoutGpusTheNoteSaysWhy) {
  EXPECT_EQ(probe().gpu_note, "libteson-no-such-library.so.1 is not installed");
  EXPECT_EQ(probe(STUB_INIT_FAILS).gpu_note, "the NVIDIA driver does not start: Driver Not Loaded");
  EXPECT_TRUE(probe(STUB_INIT_FAILS).gpus.empty());
  const HostFacts old = probe(STUB_LACKS_A_SYMBOL);
  EXPECT_TRUE(old.gpus.empty());
  EXPECT_NE(old.gpu_note.find("has no function nvmlDeviceGetMemoryInfo"), std::string::npos) << old.gpu_note;
  put("/not-a-library", "text");
  EXPECT_NE(probe(root_ + "/not-a-library").gpu_note.find("cannot be loaded"), std::string::npos);
}

TEST_F(HostProbeTest, TheEnvironmentMayNameTheLibrary) {
  ASSERT_EQ(setenv("TESON_NVML_LIBRARY", STUB_TWO_GPUS, 1), 0);
  EXPECT_EQ(probe("").gpus.size(), 2u);
  unsetenv("TESON_NVML_LIBRARY");
}

TEST(LinuxHostProbe, DescribesThisMachine) {
  auto facts = LinuxHostProbe().probe();
  ASSERT_TRUE(facts.has_value()) << facts.error().message;
  EXPECT_GT(facts->milli_vcpus, 0);
  EXPECT_LE(facts->milli_vcpus, sysconf(_SC_NPROCESSORS_CONF) * 1000);
  EXPECT_GT(facts->total_memory_mib, facts->usable_memory_mib);
  EXPECT_EQ(facts->boot_id.size(), 36u);
}

TEST(LinuxHostProbe, FreeBytesAreThoseOfTheFileSystem) {
  const auto free = LinuxHostProbe().free_bytes("/tmp");
  ASSERT_TRUE(free.has_value());
  EXPECT_GT(*free, 0);
  EXPECT_LE(*free, static_cast<int64_t>(fs::space("/tmp").capacity));
  const auto missing = LinuxHostProbe().free_bytes("/nonexistent");
  ASSERT_FALSE(missing.has_value());
  EXPECT_NE(missing.error().message.find("/nonexistent: No such file"), std::string::npos) << missing.error().message;
}

TEST(SystemClock, BeginsAtWallTimeAndNeverGoesBack) {
  const SystemClock clock;
  const Instant before = clock.wall();
  Instant last = clock.now();
  EXPECT_LT((last - before).micros, 1'000'000);
  EXPECT_GT((last - before).micros, -1'000'000);
  for (int i = 0; i < 10'000; ++i) {
    const Instant now = clock.now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(SystemClock, IsNeverBehindItsFloor) {
  const Instant floor = SystemClock().wall() + Duration::seconds(3'600);  // the system's clock was set back an hour
  SystemClock clock(floor);
  EXPECT_GE(clock.now(), floor);
  EXPECT_LT(clock.now(), floor + Duration::seconds(60));
  EXPECT_LT(clock.wall(), floor);
  clock.not_before(Instant{0});
  EXPECT_GE(clock.now(), floor);
  clock.not_before(floor + Duration::seconds(7'200));
  EXPECT_GE(clock.now(), floor + Duration::seconds(7'200));
}

}  // namespace
}  // namespace teson
