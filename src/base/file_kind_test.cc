#include "base/file_kind.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace teson {
namespace {

TEST(FileKind, NamesWhatLiesAtThePathItself) {
  std::string root = testing::TempDir() + "file-kind-XXXXXX";
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  std::ofstream(root + "/file") << "x";
  std::filesystem::create_symlink(root + "/file", root + "/link");
  ASSERT_EQ(::mkfifo((root + "/fifo").c_str(), 0600), 0);
  ASSERT_EQ(::mknod((root + "/socket").c_str(), S_IFSOCK | 0600, 0), 0);
  EXPECT_EQ(file_kind_at(root), "a directory");
  EXPECT_EQ(file_kind_at(root + "/file"), "a regular file");
  EXPECT_EQ(file_kind_at(root + "/link"), "a symbolic link");
  EXPECT_EQ(file_kind_at(root + "/fifo"), "a FIFO");
  EXPECT_EQ(file_kind_at(root + "/socket"), "a socket");
  EXPECT_EQ(file_kind_at("/dev/null"), "a device");
  EXPECT_EQ(file_kind_at(root + "/absent"), "");
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace teson
