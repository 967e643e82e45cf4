#include "adapters/launch_local/attempt_files.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

namespace teson {
namespace {

class FewDescriptors {
 public:
  FewDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(DirectoryState, WithoutADescriptorToLookWithAnAttemptIsTakenToRun) {
  char data[] = "/tmp/teson-attempt-files-XXXXXX";
  ASSERT_NE(mkdtemp(data), nullptr);
  const AttemptPaths paths = attempt_paths(data, AttemptId{JobId{Uuid{1, 2}}, 1});
  std::filesystem::create_directories(paths.directory);
  std::ofstream(paths.file(kLockFile)).close();
  EXPECT_TRUE(std::holds_alternative<directory_state::Absent>(read_directory_state(paths)));
  {
    const FewDescriptors few;
    EXPECT_TRUE(std::holds_alternative<directory_state::Running>(read_directory_state(paths)))
        << "taken for one that never was, it would be launched beside itself";
  }
  std::filesystem::remove_all(data);
}

}  // namespace
}  // namespace teson
