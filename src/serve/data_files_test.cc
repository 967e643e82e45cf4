#include "serve/data_files.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace teson {
namespace {

namespace fs = std::filesystem;

class DataFiles : public testing::Test {
 protected:
  DataFiles() : data_(testing::TempDir() + "data-files-XXXXXX") {
    if (::mkdtemp(data_.data()) == nullptr) ADD_FAILURE() << "cannot make a directory like " << data_;
  }
  ~DataFiles() override { fs::remove_all(data_); }

  std::string message() const {
    const Status status = check_data_files(data_);
    return status ? "right" : status.error().message;
  }

  std::string data_;
};

TEST_F(DataFiles, AnEmptyDirectoryAndOneInUseAreRight) {
  EXPECT_EQ(message(), "right");
  for (const char* name : {"teson.db", "credentials", "bootstrapped", "server.json", "notes"})
    std::ofstream(data_ + "/" + name) << "x";
  for (const char* name : {"attempts", "snapshots", "backup"}) fs::create_directory(data_ + "/" + name);
  EXPECT_EQ(message(), "right");
}

TEST_F(DataFiles, PartsMayLieElsewhere) {
  fs::create_directory(data_ + "/large");
  fs::create_directory_symlink(data_ + "/large", data_ + "/attempts");
  EXPECT_EQ(message(), "right");
}

TEST_F(DataFiles, WhatLiesInTheWayIsNamedWithWhatToDo) {
  for (const char* name : {"teson.db", "teson.db-wal", "logs.db", "credentials", "credentials.new", "server.json",
                           "server.json.new", "bootstrapped"}) {
    const std::string path = data_ + "/" + name;
    fs::create_directory(path);
    EXPECT_TRUE(message().starts_with(path + " is a directory, but the server keeps ")) << message();
    EXPECT_TRUE(message().ends_with("move it away, or choose another data directory with --data")) << message();
    fs::remove(path);
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_TRUE(message().starts_with(path + " is a FIFO, but the server keeps ")) << message();
    fs::remove(path);
  }
  for (const char* name : {"attempts", "snapshots"}) {
    const std::string path = data_ + "/" + name;
    std::ofstream(path) << "x";
    EXPECT_TRUE(message().starts_with(path + " is a regular file, but the server keeps ")) << message();
    fs::remove(path);
  }
}

}  // namespace
}  // namespace teson
