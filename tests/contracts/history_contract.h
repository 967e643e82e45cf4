// What every History does (ports/history.h), filled through the Journal beside it. Subject: see journal_contract.h.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "codec/codec.h"
#include "contracts/journal_samples.h"
#include "ports/history.h"
#include "ports/journal.h"

namespace teson::contract {

template <class Subject>
class HistoryContract : public testing::Test {
 protected:
  void archive(const std::vector<Job>& jobs) {
    const Status done = subject().journal().append({}, jobs);
    ASSERT_TRUE(done.has_value()) << done.error().message;
  }
  void append(const std::vector<Fact>& facts) {
    const Status done = subject().journal().append(facts, {});
    ASSERT_TRUE(done.has_value()) << done.error().message;
  }
  std::vector<uint64_t> orders(const HistoryQuery& query) {
    auto jobs = subject().history().list(query);
    EXPECT_TRUE(jobs.has_value()) << jobs.error().message;
    std::vector<uint64_t> out;
    if (jobs) {
      for (const Job& job : *jobs) out.push_back(job.order);
    }
    return out;
  }
  std::vector<std::string> streams(const std::string& prefix, const std::string& after, int limit) {
    auto records = subject().history().list_streams(prefix, after, limit);
    EXPECT_TRUE(records.has_value()) << records.error().message;
    std::vector<std::string> out;
    if (records) {
      for (const LogStreamRecord& record : *records) out.push_back(record.name);
    }
    return out;
  }
  Subject& subject() { return *subject_; }

 private:
  std::unique_ptr<Subject> subject_ = std::make_unique<Subject>();
};

using Orders = std::vector<uint64_t>;
using Names = std::vector<std::string>;

inline Fact started(uint64_t job, int number, const std::string& stream) {
  return {Instant{20}, fact::AttemptStarted{{sample_id(job), number}, Instant{1'000 + number}, stream}};
}

TYPED_TEST_SUITE_P(HistoryContract);

TYPED_TEST_P(HistoryContract, FindKeepsTheOrderAskedAndLeavesOutTheUnknown) {
  this->archive({sample_finished(1), sample_finished(2), sample_finished(3)});
  const std::vector<JobId> ids = {sample_id(3), sample_id(99), sample_id(1)};
  auto found = this->subject().history().find(ids);
  ASSERT_TRUE(found.has_value()) << found.error().message;
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].order, 3u);
  EXPECT_EQ((*found)[1].order, 1u);
  EXPECT_EQ(codec::encode((*found)[1]), codec::encode(sample_finished(1)));
}

TYPED_TEST_P(HistoryContract, ChildrenAreFoundWithoutTheirSpecAndNeverListed) {
  Job array = sample_finished(1);
  array.spec.array = ArraySpec{.size = 3, .only = {}, .sequential = false, .n_to_n = {}, .throttle = 0};
  array.array = ArrayProgress{"+F+", {}};
  Job first = sample_finished(2);
  first.id = array.id.child(0);
  Job last = sample_finished(4);
  last.id = array.id.child(2);
  this->archive({array, last});
  this->archive({first, sample_finished(9)});
  EXPECT_EQ(this->orders({}), (Orders{9, 1}));
  const std::vector<JobId> ids = {last.id, array.id.child(1), array.id, first.id};
  auto found = this->subject().history().find(ids);
  ASSERT_TRUE(found.has_value()) << found.error().message;
  ASSERT_EQ(found->size(), 3u);
  EXPECT_EQ((*found)[0].id, last.id);
  EXPECT_EQ((*found)[1].array->children, "+F+");
  EXPECT_EQ((*found)[2].id, first.id);
  EXPECT_EQ((*found)[2].past.size(), 1u);
}

TYPED_TEST_P(HistoryContract, ListIsNewestFirstWhateverTheOrderOfFinishing) {
  this->archive({sample_finished(2), sample_finished(5)});
  this->archive({sample_finished(1), sample_finished(4)});
  EXPECT_EQ(this->orders({}), (Orders{5, 4, 2, 1}));
}

TYPED_TEST_P(HistoryContract, PagesMeetEveryJobOnce) {
  std::vector<Job> jobs;
  for (uint64_t n = 1; n <= 25; ++n) jobs.push_back(sample_finished(n));
  this->archive(jobs);
  HistoryQuery query;
  query.queue = "default";
  query.limit = 10;
  Orders all;
  while (true) {
    const Orders page = this->orders(query);
    if (page.empty()) break;
    ASSERT_LE(page.size(), 10u);
    all.insert(all.end(), page.begin(), page.end());
    query.order_below = page.back();
  }
  ASSERT_EQ(all.size(), 25u);
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], 25 - i);
}

TYPED_TEST_P(HistoryContract, FiltersByQueueAndStatus) {
  std::vector<Job> jobs = {sample_finished(1, "a", true), sample_finished(2, "b", false), sample_finished(3, "c", true),
                           sample_finished(4, "d", false)};
  jobs[2].spec.queue = jobs[3].spec.queue = "spot";
  this->archive(jobs);
  HistoryQuery query;
  query.queue = "default";
  EXPECT_EQ(this->orders(query), (Orders{2, 1}));
  query.succeeded = true;
  EXPECT_EQ(this->orders(query), (Orders{1}));
  query.succeeded = false;
  EXPECT_EQ(this->orders(query), (Orders{2}));
  query.queue = "";
  EXPECT_EQ(this->orders(query), (Orders{4, 2}));
  query.queue = "defaul";
  EXPECT_EQ(this->orders(query), (Orders{}));
}

TYPED_TEST_P(HistoryContract, NamePatternsIgnoreCaseAndMayEndInAStar) {
  this->archive({sample_finished(1, "Train-A"), sample_finished(2, "train-b"), sample_finished(3, "trail"),
                 sample_finished(4, "other")});
  const auto named = [this](const std::string& pattern) {
    HistoryQuery query;
    query.name_pattern = pattern;
    return this->orders(query);
  };
  EXPECT_EQ(named("train-a"), (Orders{1}));
  EXPECT_EQ(named("TRAIN-*"), (Orders{2, 1}));
  EXPECT_EQ(named("trai*"), (Orders{3, 2, 1}));
  EXPECT_EQ(named("train"), (Orders{}));
  EXPECT_EQ(named("*"), (Orders{4, 3, 2, 1}));
}

TYPED_TEST_P(HistoryContract, FiltersByDefinitionWithAndWithoutRevision) {
  std::vector<Job> jobs = {sample_finished(1), sample_finished(2), sample_finished(3)};
  jobs[1].spec.definition_revision = 2;
  jobs[2].spec.definition = "train2";
  this->archive(jobs);
  HistoryQuery query;
  query.definition = "train";
  EXPECT_EQ(this->orders(query), (Orders{2, 1}));
  query.definition = "train:2";
  EXPECT_EQ(this->orders(query), (Orders{2}));
  query.definition = "train:3";
  EXPECT_EQ(this->orders(query), (Orders{}));
}

TYPED_TEST_P(HistoryContract, CreationBoundsAreExclusive) {
  this->archive({sample_finished(1), sample_finished(2), sample_finished(3), sample_finished(4)});
  HistoryQuery query;
  query.created_after = Instant{1'000'000};
  query.created_before = Instant{4'000'000};
  EXPECT_EQ(this->orders(query), (Orders{3, 2}));
  query.order_below = 3;
  EXPECT_EQ(this->orders(query), (Orders{2}));
}

TYPED_TEST_P(HistoryContract, CreationBoundsHoldForJobsCreatedOutOfTheirOrder) {
  std::vector<Job> jobs = {sample_finished(1), sample_finished(2), sample_finished(3), sample_finished(4)};
  jobs[0].created = Instant{9'000'000};
  jobs[3].created = Instant{500'000};
  this->archive(jobs);
  HistoryQuery query;
  query.created_before = Instant{3'000'000};
  EXPECT_EQ(this->orders(query), (Orders{4, 2}));
  query = {};
  query.created_after = Instant{2'000'000};
  EXPECT_EQ(this->orders(query), (Orders{3, 1}));
}

TYPED_TEST_P(HistoryContract, AllFiltersTogether) {
  std::vector<Job> jobs;
  for (uint64_t n = 1; n <= 6; ++n) jobs.push_back(sample_finished(n, n == 5 ? "else" : "train-x", n != 4));
  jobs[1].spec.queue = "spot";
  this->archive(jobs);
  HistoryQuery query;
  query.queue = "default";
  query.succeeded = true;
  query.name_pattern = "Train*";
  query.definition = "train:1";
  query.created_after = Instant{500'000};
  query.created_before = Instant{6'500'000};
  EXPECT_EQ(this->orders(query), (Orders{6, 3, 1}));
  query.limit = 2;
  EXPECT_EQ(this->orders(query), (Orders{6, 3}));
}

TYPED_TEST_P(HistoryContract, AStreamIsKnownOnceItsAttemptBegan) {
  this->append({submitted(1), started(1, 2, "train/default/f00")});
  auto record = this->subject().history().find_stream("train/default/f00");
  ASSERT_TRUE(record.has_value()) << record.error().message;
  ASSERT_TRUE(record->has_value());
  EXPECT_EQ((*record)->name, "train/default/f00");
  EXPECT_EQ((*record)->attempt, (AttemptId{sample_id(1), 2}));
  EXPECT_EQ((*record)->created, Instant{1'002});
  record = this->subject().history().find_stream("train/default/f0");
  ASSERT_TRUE(record.has_value());
  EXPECT_FALSE(record->has_value());
}

TYPED_TEST_P(HistoryContract, StreamsAreListedByNameFromACursor) {
  this->append(
      {started(1, 1, "b/2"), started(2, 1, "a/1"), started(3, 1, "b/1"), started(4, 1, "b/3"), started(5, 1, "c/1")});
  EXPECT_EQ(this->streams("", "", 10), (Names{"a/1", "b/1", "b/2", "b/3", "c/1"}));
  EXPECT_EQ(this->streams("b/", "", 2), (Names{"b/1", "b/2"}));
  EXPECT_EQ(this->streams("b/", "b/2", 2), (Names{"b/3"}));
  EXPECT_EQ(this->streams("", "b/3", 10), (Names{"c/1"}));
  EXPECT_EQ(this->streams("x", "", 10), (Names{}));
}

TYPED_TEST_P(HistoryContract, ReadersOnOtherThreadsSeeEveryAppendThatReturned) {
  constexpr uint64_t kJobs = 60;
  std::atomic<uint64_t> returned = 0;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 3; ++reader) {
    readers.emplace_back([&] {
      while (true) {
        const uint64_t known = returned;
        HistoryQuery query;
        query.limit = 1000;
        const auto jobs = this->subject().history().list(query);
        if (!jobs || jobs->size() < known) ++wrong;
        if (known == kJobs) return;
      }
    });
  }
  for (uint64_t n = 1; n <= kJobs; ++n) {
    this->archive({sample_finished(n)});
    returned = n;
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
}

REGISTER_TYPED_TEST_SUITE_P(HistoryContract, FindKeepsTheOrderAskedAndLeavesOutTheUnknown,
                            ChildrenAreFoundWithoutTheirSpecAndNeverListed,
                            ListIsNewestFirstWhateverTheOrderOfFinishing, PagesMeetEveryJobOnce,
                            FiltersByQueueAndStatus, NamePatternsIgnoreCaseAndMayEndInAStar,
                            FiltersByDefinitionWithAndWithoutRevision, CreationBoundsAreExclusive,
                            CreationBoundsHoldForJobsCreatedOutOfTheirOrder, AllFiltersTogether,
                            AStreamIsKnownOnceItsAttemptBegan, StreamsAreListedByNameFromACursor,
                            ReadersOnOtherThreadsSeeEveryAppendThatReturned);

}  // namespace teson::contract
