// What every Journal does (ports/journal.h). Run it on an adapter with
//
//   struct Subject { Journal& journal(); const History& history(); void restart(); };  // restart: as after a crash
//   INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, JournalContract, Subject);
//
// A Subject is made anew, and empty, for each test.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "codec/codec.h"
#include "contracts/journal_samples.h"
#include "ports/history.h"
#include "ports/journal.h"

namespace teson::contract {

inline std::vector<std::string> texts(const std::vector<Fact>& facts) {
  std::vector<std::string> out;
  for (const Fact& fact : facts) out.push_back(codec::encode(fact));
  return out;
}

template <class Subject>
class JournalContract : public testing::Test {
 protected:
  void append(const std::vector<Fact>& facts, const std::vector<Job>& finished = {}) {
    const Status done = subject().journal().append(facts, finished);
    ASSERT_TRUE(done.has_value()) << done.error().message;
  }
  // Without a snapshot, all facts ever appended.
  std::vector<std::string> loaded() {
    auto contents = subject().journal().load();
    EXPECT_TRUE(contents.has_value()) << contents.error().message;
    if (!contents) return {};
    EXPECT_EQ(contents->snapshot_seq, 0u);
    return texts(contents->facts);
  }
  Subject& subject() { return *subject_; }

 private:
  std::unique_ptr<Subject> subject_ = std::make_unique<Subject>();
};

TYPED_TEST_SUITE_P(JournalContract);

TYPED_TEST_P(JournalContract, ANewJournalIsEmpty) {
  auto contents = this->subject().journal().load();
  ASSERT_TRUE(contents.has_value());
  EXPECT_EQ(contents->snapshot_seq, 0u);
  EXPECT_TRUE(contents->facts.empty());
  EXPECT_EQ(contents->snapshot.next_order, 1u);
  EXPECT_TRUE(contents->snapshot.jobs.empty());
}

TYPED_TEST_P(JournalContract, FactsComeBackInTheOrderOfTheirAppends) {
  this->append({submitted(3), submitted(1)});
  this->append({submitted(2)});
  EXPECT_EQ(this->loaded(), texts({submitted(3), submitted(1), submitted(2)}));
}

TYPED_TEST_P(JournalContract, EveryKindOfFactSurvivesARestart) {
  this->append(one_of_each());
  this->subject().restart();
  EXPECT_EQ(this->loaded(), texts(one_of_each()));
}

TYPED_TEST_P(JournalContract, AppendingGoesOnAfterARestart) {
  this->append({submitted(1)});
  this->subject().restart();
  this->append({submitted(2)});
  this->subject().restart();
  EXPECT_EQ(this->loaded(), texts({submitted(1), submitted(2)}));
}

TYPED_TEST_P(JournalContract, LoadingChangesNothing) {
  this->append({submitted(1), submitted(2)});
  const auto first = this->loaded();
  EXPECT_EQ(this->loaded(), first);
  this->append({submitted(3)});
  EXPECT_EQ(this->loaded(), texts({submitted(1), submitted(2), submitted(3)}));
}

TYPED_TEST_P(JournalContract, AnEmptyBatchIsNoFact) {
  this->append({});
  this->append({submitted(1)});
  this->append({});
  EXPECT_EQ(this->loaded(), texts({submitted(1)}));
}

TYPED_TEST_P(JournalContract, AFinishedJobIsInTheArchiveWhenItsAppendReturns) {
  const Job job = sample_finished(7);
  this->append({submitted(7)}, {job});
  const std::vector<JobId> ids = {job.id};
  auto found = this->subject().history().find(ids);
  ASSERT_TRUE(found.has_value()) << found.error().message;
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(codec::encode(found->front()), codec::encode(job));
  this->subject().restart();
  found = this->subject().history().find(ids);
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->size(), 1u);
}

REGISTER_TYPED_TEST_SUITE_P(JournalContract, ANewJournalIsEmpty, FactsComeBackInTheOrderOfTheirAppends,
                            EveryKindOfFactSurvivesARestart, AppendingGoesOnAfterARestart, LoadingChangesNothing,
                            AnEmptyBatchIsNoFact, AFinishedJobIsInTheArchiveWhenItsAppendReturns);

}  // namespace teson::contract
