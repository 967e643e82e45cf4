#include "adapters/logs_sqlite/logs_sqlite.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "contracts/log_store_contract.h"

namespace teson {
namespace {

namespace fs = std::filesystem;

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (fs::temp_directory_path() / "teson-logs-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::unique_ptr<SqliteLogStore> open_store(const std::string& path) {
  auto opened = SqliteLogStore::open(path);
  if (!opened) ADD_FAILURE() << opened.error().message;
  return opened ? std::move(*opened) : nullptr;
}

TEST(SqliteLogStore, ExpiresAndPurgesMoreThanOneSlice) {
  TemporaryDirectory directory;
  const auto store = open_store(directory.path());
  ASSERT_TRUE(store->create_group("g", {}, contract::kNow).has_value());
  ASSERT_TRUE(store->set_retention("g", 1).has_value());
  for (const char* stream : {"s", "t"}) {
    ASSERT_TRUE(store->create_stream("g", stream, contract::kNow).has_value());
    const std::vector<NewLogEvent> events(5'001, NewLogEvent{1, "old"});
    ASSERT_TRUE(store->put_events("g", stream, events, contract::kNow).has_value());
  }
  ASSERT_TRUE(store->delete_stream("g", "t").has_value());
  EXPECT_EQ((*store->find_group("g"))->stored_bytes, 3 * 5'001);
  auto swept = store->sweep(contract::kNow);
  ASSERT_TRUE(swept.has_value()) << swept.error().message;
  EXPECT_EQ(*swept, 5'001u);
  EXPECT_EQ((*store->find_group("g"))->stored_bytes, 0);
}

TEST(SqliteLogStore, ADamagedDatabaseIsNoticedOnOpening) {
  TemporaryDirectory directory;
  std::ofstream(directory.path() + "/logs.db") << std::string(5'000, 'z');
  const auto opened = SqliteLogStore::open(directory.path());
  ASSERT_FALSE(opened.has_value());
  EXPECT_NE(opened.error().message.find("logs.db"), std::string::npos) << opened.error().message;
  EXPECT_NE(opened.error().message.find("not a database"), std::string::npos) << opened.error().message;
}

}  // namespace

namespace contract {

class SqliteLogSubject {
 public:
  SqliteLogSubject() { restart(); }
  void restart() {
    store_.reset();
    store_ = open_store(directory_.path());
  }
  LogStore& store() { return *store_; }

 private:
  TemporaryDirectory directory_;
  std::unique_ptr<SqliteLogStore> store_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, LogStoreContract, SqliteLogSubject);

}  // namespace contract
}  // namespace teson
