// Snapshots: taken behind the owner's back, facts deleted in slices, damaged files survived.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "adapters/journal_sqlite/journal_sqlite.h"
#include "adapters/journal_sqlite/journal_sqlite_testing.h"
#include "contracts/journal_samples.h"

namespace teson {
namespace {

namespace fs = std::filesystem;
using testing_support::open_journal;
using testing_support::OpenJournal;
using testing_support::TemporaryDirectory;

Fact submitted(uint64_t n) { return {Instant{1}, fact::JobSubmitted{contract::sample_id(n), {}, {}}}; }

// A stand-in for core's replay that shows which facts it met: one pending job for each JobSubmitted.
Snapshot collect(JournalContents contents) {
  Snapshot snapshot = std::move(contents.snapshot);
  for (const Fact& fact : contents.facts) {
    const auto& body = std::get<fact::JobSubmitted>(fact.body);
    Job job;
    job.id = body.id;
    job.order = snapshot.next_order++;
    job.spec = body.spec;
    job.state = job_state::Pending{};
    snapshot.jobs.push_back(job);
    snapshot.last_fact_at = fact.at;
  }
  return snapshot;
}

JournalOptions every(uint64_t facts) { return {collect, facts}; }

class CompactorTest : public testing::Test {
 protected:
  void SetUp() override { reopen(every(10)); }
  void reopen(JournalOptions options) {
    open_.reset();
    auto opened = open_journal(directory_.path(), std::move(options));
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    open_.emplace(std::move(*opened));
    journal().finish_snapshots();
  }
  // One fact per append; waits for the snapshots that they cause, so that the outcome is always the same.
  void submit(uint64_t first, uint64_t last) {
    for (uint64_t n = first; n <= last; ++n) {
      const Status done = journal().append(std::vector{submitted(n)}, {});
      ASSERT_TRUE(done.has_value()) << done.error().message;
      journal().finish_snapshots();
    }
  }
  // Every job ever submitted is in the snapshot or in the facts after it, once and in order.
  void expect_whole(uint64_t jobs) {
    auto contents = journal().load();
    ASSERT_TRUE(contents.has_value()) << contents.error().message;
    const Snapshot state = collect(std::move(*contents));
    ASSERT_EQ(state.jobs.size(), jobs);
    for (uint64_t n = 1; n <= jobs; ++n) ASSERT_EQ(state.jobs[n - 1].id, contract::sample_id(n));
    EXPECT_EQ(journal().status().last_fact, jobs);
  }
  std::vector<std::string> snapshot_files() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_.path() + "/snapshots")) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string snapshot_path(uint64_t seq) { return directory_.path() + "/snapshots/" + std::to_string(seq) + ".json"; }
  void flip_bit_in(const std::string& path) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(150);
    const char byte = static_cast<char>(file.get());
    file.seekp(150);
    file.put(static_cast<char>(byte ^ 1));
  }
  SqliteJournal& journal() { return *open_->journal; }

  TemporaryDirectory directory_;
  std::optional<OpenJournal> open_;
};

TEST_F(CompactorTest, ASnapshotIsTakenWhenItIsDueAndLoadBeginsThere) {
  submit(1, 9);
  EXPECT_EQ(journal().status().last_snapshot, 0u);
  submit(10, 12);
  EXPECT_EQ(journal().status().last_snapshot, 10u);
  auto contents = journal().load();
  ASSERT_TRUE(contents.has_value()) << contents.error().message;
  EXPECT_EQ(contents->snapshot_seq, 10u);
  EXPECT_EQ(contents->snapshot.jobs.size(), 10u);
  EXPECT_EQ(contents->facts.size(), 2u);
  expect_whole(12);
}

TEST_F(CompactorTest, NoneIsDueBeforeAsManyFactsAsTheLastOneHeldValues) {
  submit(1, 10);  // 10 values
  submit(11, 20);
  EXPECT_EQ(journal().status().last_snapshot, 20u);  // 20 values: the next is due at 40
  submit(21, 39);
  EXPECT_EQ(journal().status().last_snapshot, 20u);
  submit(40, 40);
  EXPECT_EQ(journal().status().last_snapshot, 40u);
}

TEST_F(CompactorTest, TwoFilesAreKeptAndFactsUpToTheOlderAreDeleted) {
  submit(1, 10);
  EXPECT_EQ(journal().status().first_kept_fact, 1u);  // one snapshot: nothing may go
  submit(11, 21);
  EXPECT_EQ(journal().status().first_kept_fact, 11u);
  submit(22, 41);
  EXPECT_EQ(snapshot_files(), (std::vector<std::string>{"20.json", "40.json"}));
  EXPECT_EQ(journal().status().first_kept_fact, 21u);
  expect_whole(41);
  reopen(every(10));
  expect_whole(41);
}

TEST_F(CompactorTest, FactsAreDeletedInSlicesOfAThousand) {
  reopen(every(1'200));
  std::vector<Fact> batch;
  for (uint64_t n = 1; n <= 1'200; ++n) batch.push_back(submitted(n));
  ASSERT_TRUE(journal().append(batch, {}).has_value());
  journal().finish_snapshots();
  for (uint64_t n = 0; n < 1'200; ++n) batch[n] = submitted(1'201 + n);
  ASSERT_TRUE(journal().append(batch, {}).has_value());
  journal().finish_snapshots();
  EXPECT_EQ(journal().status().first_kept_fact, 1u);
  submit(2'401, 2'401);
  EXPECT_EQ(journal().status().first_kept_fact, 1'001u);
  submit(2'402, 2'402);
  EXPECT_EQ(journal().status().first_kept_fact, 1'201u);
  submit(2'403, 2'403);
  EXPECT_EQ(journal().status().first_kept_fact, 1'201u);
  expect_whole(2'403);
}

TEST_F(CompactorTest, ABitFlippedSnapshotCostsOnlyALongerReplay) {
  submit(1, 25);
  open_.reset();
  flip_bit_in(snapshot_path(20));
  reopen(every(10));
  auto contents = journal().load();
  ASSERT_TRUE(contents.has_value()) << contents.error().message;
  EXPECT_EQ(contents->snapshot_seq, 10u);
  EXPECT_EQ(contents->facts.size(), 15u);
  expect_whole(25);
  // The next snapshot is built on the whole one, and the damaged one goes first.
  submit(26, 45);
  EXPECT_EQ(snapshot_files(),
            (std::vector<std::string>{"10.json", std::to_string(journal().status().last_snapshot) + ".json"}));
  expect_whole(45);
}

TEST_F(CompactorTest, ATruncatedSnapshotCostsOnlyALongerReplay) {
  submit(1, 25);
  open_.reset();
  fs::resize_file(snapshot_path(20), fs::file_size(snapshot_path(20)) / 2);
  reopen(every(10));
  expect_whole(25);
  open_.reset();
  fs::resize_file(snapshot_path(20), 0);
  reopen(every(10));
  expect_whole(25);
}

TEST_F(CompactorTest, AFifoInPlaceOfASnapshotIsNotWaitedFor) {
  submit(1, 25);
  open_.reset();
  fs::remove(snapshot_path(20));
  ASSERT_EQ(::mkfifo(snapshot_path(20).c_str(), 0600), 0);
  reopen(every(10));
  expect_whole(25);
}

TEST_F(CompactorTest, BothSnapshotsDamagedIsAnErrorThatSaysWhatIsMissing) {
  submit(1, 25);
  open_.reset();
  flip_bit_in(snapshot_path(10));
  fs::resize_file(snapshot_path(20), 30);
  reopen(every(10));
  const auto contents = journal().load();
  ASSERT_FALSE(contents.has_value());
  EXPECT_EQ(contents.error().kind, ErrorKind::kIo);
  EXPECT_NE(contents.error().message.find("lacks the facts 1 to 10"), std::string::npos) << contents.error().message;
  EXPECT_NE(contents.error().message.find("backup"), std::string::npos);
}

TEST_F(CompactorTest, WhatACrashLeftHalfWrittenIsRemoved) {
  submit(1, 3);
  open_.reset();
  std::ofstream(directory_.path() + "/snapshots/99.json.tmp") << "half";
  reopen(every(10));
  EXPECT_EQ(snapshot_files(), std::vector<std::string>{});
  expect_whole(3);
}

TEST_F(CompactorTest, ASnapshotThatCannotBeWrittenStopsNothing) {
  fs::remove_all(directory_.path() + "/snapshots");
  std::ofstream(directory_.path() + "/snapshots") << "in the way";
  for (uint64_t n = 1; n <= 15; ++n) {
    ASSERT_TRUE(journal().append(std::vector{submitted(n)}, {}).has_value());
  }
  journal().finish_snapshots();
  EXPECT_EQ(journal().status().failed_snapshots, 1u);
  EXPECT_NE(journal().status().last_snapshot_error.find("Not a directory"), std::string::npos)
      << journal().status().last_snapshot_error;
  EXPECT_EQ(journal().status().first_kept_fact, 1u);
  fs::remove(directory_.path() + "/snapshots");
  fs::create_directory(directory_.path() + "/snapshots");
  submit(16, 20);
  EXPECT_EQ(journal().status().last_snapshot, 20u);
  EXPECT_EQ(journal().status().last_snapshot_error, "");
  expect_whole(20);
}

// Deleting all facts must not make their numbers begin again.
TEST_F(CompactorTest, NumbersGoOnAfterRestarts) {
  for (uint64_t n = 1; n <= 60; ++n) {
    submit(n, n);
    reopen(every(10));
  }
  expect_whole(60);
  EXPECT_GT(journal().status().first_kept_fact, 1u);
}

}  // namespace
}  // namespace teson
