#include "cli/doctor_checks.h"

#include <gtest/gtest.h>

namespace teson::cli {
namespace {

TEST(DataDirectory, MustBeThereWritableAndNoOneElses) {
  EXPECT_EQ(judge_data_directory({"/d", true, true, true, 0700}).level, Level::kOk);
  const Finding absent = judge_data_directory({"/a b", false, false, false, 0});
  EXPECT_EQ(absent.level, Level::kWarn);
  EXPECT_EQ(absent.advice, "'teson serve --data '/a b'' makes it");
  EXPECT_EQ(judge_data_directory({"/d", true, false, false, 0644}).level, Level::kFail);
  EXPECT_EQ(judge_data_directory({"/d", true, true, false, 0755}).level, Level::kFail);
  const Finding open = judge_data_directory({"/d", true, true, true, 0777});
  EXPECT_EQ(open.level, Level::kWarn);
  EXPECT_EQ(open.text, "/d can be written by other users (mode 0777)");
}

TEST(Credentials, MayBeReadByTheirOwnerOnly) {
  EXPECT_EQ(judge_credentials("/d/credentials", 0600).level, Level::kOk);
  EXPECT_EQ(judge_credentials("/d/credentials", std::nullopt).level, Level::kWarn);
  const Finding open = judge_credentials("/d/credentials", 0640);
  EXPECT_EQ(open.level, Level::kFail);
  EXPECT_EQ(open.advice, "chmod 600 /d/credentials");
}

TEST(FreeDisk, FailsWhereAStateFileMightNotFit) {
  constexpr int64_t kGiB = 1LL << 30;
  EXPECT_EQ(judge_free_disk("/d", 5 * kGiB).level, Level::kOk);
  EXPECT_EQ(judge_free_disk("/d", 5 * kGiB - 1).level, Level::kWarn);
  EXPECT_EQ(judge_free_disk("/d", kGiB / 2).level, Level::kWarn);
  EXPECT_EQ(judge_free_disk("/d", kGiB / 2 - 1).level, Level::kFail);
  EXPECT_EQ(judge_free_disk("/d", 3 * kGiB).text, "3.0 GiB free at /d");
}

TEST(Clock, FailsWhereSignaturesAreRefused) {
  EXPECT_EQ(judge_clock(Duration::millis(-999)).text, "agrees with the server's");
  EXPECT_EQ(judge_clock(Duration::seconds(29)).level, Level::kOk);
  EXPECT_EQ(judge_clock(Duration::seconds(30)).level, Level::kWarn);
  EXPECT_EQ(judge_clock(Duration::seconds(-899)).level, Level::kWarn);
  EXPECT_EQ(judge_clock(Duration::seconds(-900)).level, Level::kFail);
  EXPECT_EQ(judge_clock(Duration::seconds(3'600)).text, "1h00m behind the server's");
  EXPECT_EQ(judge_clock(Duration::seconds(-3'600)).text, "1h00m ahead of the server's");
}

TEST(Versions, WarnWhenTheyDiffer) {
  EXPECT_EQ(judge_versions("0.1.0", "0.1.0", "http://h:1").text, "answers at http://h:1, version 0.1.0");
  EXPECT_EQ(judge_versions("0.1.0", "", "http://h:1").text, "answers at http://h:1");
  const Finding old = judge_versions("0.2.0", "0.1.0", "http://h:1");
  EXPECT_EQ(old.level, Level::kWarn);
  EXPECT_EQ(old.text, "http://h:1 runs version 0.1.0, this is 0.2.0");
}

TEST(Cgroups, SayWhatIsNotEnforced) {
  const Finding all = judge_cgroups({true, true, true, true, {"/sys/fs/cgroup/x"}, ""});
  EXPECT_EQ(all.level, Level::kOk);
  EXPECT_EQ(all.text, "memory limit, CPU shares, process count in /sys/fs/cgroup/x");
  const Finding some = judge_cgroups({true, false, false, true, {"/sys/fs/cgroup/x"}, "cpu: read-only"});
  EXPECT_EQ(some.level, Level::kWarn);
  EXPECT_EQ(some.text, "memory limit in /sys/fs/cgroup/x");
  EXPECT_EQ(some.advice,
            "not enforced: CPU shares, process count (cpu: read-only); run the server as root or under systemd "
            "with Delegate=yes");
  EXPECT_EQ(judge_cgroups({}).text, "none");
}

TEST(Host, ShowsSizeAndGpusOrWhyThereAreNone) {
  HostFacts facts;
  facts.milli_vcpus = 2500;
  facts.total_memory_mib = 8000;
  facts.usable_memory_mib = 7000;
  facts.gpu_note = "libnvidia-ml.so.1 is not installed";
  const auto none = judge_host(facts);
  ASSERT_EQ(none.size(), 2u);
  EXPECT_EQ(none[0].text, "2.5 vCPU, 7000 MiB of 8000 MiB memory usable");
  EXPECT_EQ(none[1].text, "none: libnvidia-ml.so.1 is not installed");
  facts.gpus = {{0, "GPU-a", "NVIDIA A100", 40'960}, {1, "GPU-b", "NVIDIA A100", 40'960}};
  const auto two = judge_host(facts);
  ASSERT_EQ(two.size(), 3u);
  EXPECT_EQ(two[2].name, "GPU 1");
  EXPECT_EQ(two[2].text, "NVIDIA A100, 40960 MiB");
  EXPECT_EQ(judge_host(fail(ErrorKind::kIo, "read /proc/meminfo: no"))[0].level, Level::kFail);
}

TEST(Clients, AreAWarningWhenThereIsNone) {
  EXPECT_EQ(judge_clients("", "").level, Level::kWarn);
  EXPECT_EQ(judge_clients("/usr/bin/aws", "1.26.27").text, "/usr/bin/aws, boto3 1.26.27");
  EXPECT_EQ(judge_clients("", "1.26.27").text, "boto3 1.26.27");
}

}  // namespace
}  // namespace teson::cli
