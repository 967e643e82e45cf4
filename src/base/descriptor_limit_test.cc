#include "base/descriptor_limit.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace teson {
namespace {

// In a child of its own, whose limits are nobody else's.
TEST(DescriptorLimit, IsRaisedForThisProcessAndNotForItsChildren) {
  const pid_t raised = fork();
  if (raised == 0) {
    const rlimit small{.rlim_cur = 100, .rlim_max = 300};
    if (setrlimit(RLIMIT_NOFILE, &small) != 0) _exit(1);
    raise_descriptor_limit();
    if (descriptor_limit() != 300) _exit(2);
    const pid_t child = fork();
    if (child == 0) {
      restore_descriptor_limit(getpid());
      _exit(descriptor_limit() == 100 ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    _exit(status == 0 && descriptor_limit() == 300 ? 0 : 3);
  }
  int status = 0;
  ASSERT_EQ(waitpid(raised, &status, 0), raised);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(DescriptorLimit, OneThatIsAsHighAsMayBeStays) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit fixed{.rlim_cur = 120, .rlim_max = 120};
    if (setrlimit(RLIMIT_NOFILE, &fixed) != 0) _exit(1);
    raise_descriptor_limit();
    restore_descriptor_limit(getpid());
    _exit(descriptor_limit() == 120 ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace teson
