#include "adapters/journal_sqlite/journal_sqlite.h"

#include <gtest/gtest.h>

#include "adapters/journal_sqlite/journal_sqlite_testing.h"
#include "adapters/sqlite/connection.h"
#include "contracts/history_contract.h"
#include "contracts/journal_contract.h"

namespace teson::contract {

class SqliteSubject {
 public:
  SqliteSubject() { restart(); }
  void restart() {
    open_.reset();
    auto opened = testing_support::open_journal(directory_.path());
    if (!opened) ADD_FAILURE() << opened.error().message;
    open_.emplace(std::move(*opened));
  }
  Journal& journal() { return *open_->journal; }
  const History& history() { return open_->journal->history(); }

 private:
  testing_support::TemporaryDirectory directory_;
  std::optional<testing_support::OpenJournal> open_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, JournalContract, SqliteSubject);
INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, HistoryContract, SqliteSubject);

}  // namespace teson::contract

namespace teson {
namespace {

using contract::sample_finished;
using contract::sample_id;
using contract::submitted;
using testing_support::open_journal;
using testing_support::TemporaryDirectory;

void append(Journal& journal, const std::vector<Fact>& facts, const std::vector<Job>& finished = {}) {
  const Status done = journal.append(facts, finished);
  ASSERT_TRUE(done.has_value()) << done.error().message;
}

TEST(SqliteJournal, AnArchivedJobMayBeArchivedAgainWithNewTags) {
  TemporaryDirectory directory;
  auto open = open_journal(directory.path());
  ASSERT_TRUE(open.has_value()) << open.error().message;
  Job job = sample_finished(1);
  append(*open->journal, {}, {job});
  job.spec.tags = {{"kept", "yes"}};
  append(*open->journal, {}, {job});
  const auto jobs = open->journal->history().list({});
  ASSERT_TRUE(jobs.has_value());
  ASSERT_EQ(jobs->size(), 1u);
  EXPECT_EQ(jobs->front().spec.tags.at("kept"), "yes");
}

TEST(SqliteJournal, TwoJobsOfOneOrderAreRefusedAndTheWholeBatchWithThem) {
  TemporaryDirectory directory;
  auto open = open_journal(directory.path());
  ASSERT_TRUE(open.has_value());
  append(*open->journal, {submitted(1)}, {sample_finished(1)});
  Job other = sample_finished(2);
  other.order = 1;
  const Status done = open->journal->append(std::vector{submitted(2)}, std::vector{other});
  ASSERT_FALSE(done.has_value());
  // An unexpected failure: nothing is taken until the journal was loaded again.
  EXPECT_FALSE(open->journal->append(std::vector{submitted(3)}, {}).has_value());
  const auto contents = open->journal->load();
  ASSERT_TRUE(contents.has_value()) << contents.error().message;
  EXPECT_EQ(contents->facts.size(), 1u);
  append(*open->journal, {submitted(4)});
  EXPECT_EQ(open->journal->load()->facts.size(), 2u);
}

TEST(SqliteJournal, RefusesADatabaseOfANewerTeson) {
  TemporaryDirectory directory;
  {
    ASSERT_TRUE(open_journal(directory.path()).has_value());
  }
  {
    auto connection = sqlite::Connection::open(directory.path() + "/teson.db", sqlite::Access::kReadWrite);
    ASSERT_TRUE(connection->execute("UPDATE meta SET value = '99' WHERE key = 'schema_version'").has_value());
  }
  const auto open = open_journal(directory.path());
  ASSERT_FALSE(open.has_value());
  EXPECT_EQ(open.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(open.error().message.find("schema 99"), std::string::npos) << open.error().message;
  EXPECT_NE(open.error().message.find("newer teson"), std::string::npos);
}

TEST(SqliteJournal, RefusesADatabaseOfAnotherProgram) {
  TemporaryDirectory directory;
  {
    auto connection = sqlite::Connection::open(directory.path() + "/teson.db", sqlite::Access::kReadWrite);
    ASSERT_TRUE(connection->execute("CREATE TABLE people(name TEXT)").has_value());
  }
  const auto open = open_journal(directory.path());
  ASSERT_FALSE(open.has_value());
  EXPECT_NE(open.error().message.find("another program"), std::string::npos) << open.error().message;
}

}  // namespace
}  // namespace teson
