// What every LogStore does (ports/log_store.h). Run it on an adapter with
//
//   struct Subject { LogStore& store(); void restart(); };  // restart: as after a crash
//   INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, LogStoreContract, Subject);
//
// A Subject is made anew, and empty, for each test.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ports/log_store.h"

namespace teson::contract {

inline constexpr int64_t kDayMs = 86'400'000;
inline constexpr Instant kNow = Instant::from_millis(1'700'000'000'000);

using Texts = std::vector<std::string>;

template <class Subject>
class LogStoreContract : public testing::Test {
 protected:
  LogStore& store() { return subject_->store(); }
  void restart() { subject_->restart(); }
  void ok(const Status& status) { ASSERT_TRUE(status.has_value()) << status.error().message; }
  void expect_error(const Status& status, ErrorKind kind, const std::string& part) {
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().kind, kind);
    EXPECT_NE(status.error().message.find(part), std::string::npos) << status.error().message;
  }
  void make(const std::string& group, const std::string& stream) {
    ok(store().create_group(group, {}, kNow));
    ok(store().create_stream(group, stream, kNow));
  }
  void put(const std::vector<NewLogEvent>& events, Instant now = kNow) {
    ok(store().put_events("g", "s", events, now));
  }
  std::vector<StoredLogEvent> read(const LogRead& read = {}, Instant now = kNow) {
    auto events = store().read_events("g", "s", read, now);
    EXPECT_TRUE(events.has_value()) << events.error().message;
    return events.value_or(std::vector<StoredLogEvent>{});
  }
  static Texts texts(const std::vector<StoredLogEvent>& events) {
    Texts out;
    for (const StoredLogEvent& event : events) out.push_back(event.message);
    return out;
  }
  Texts groups(const std::string& prefix, const std::string& after, int limit) {
    auto found = store().list_groups(prefix, after, limit);
    EXPECT_TRUE(found.has_value()) << found.error().message;
    Texts out;
    if (found) {
      for (const StoredLogGroup& group : *found) out.push_back(group.name);
    }
    return out;
  }
  Texts streams(const std::string& prefix, const std::string& after, int limit) {
    auto found = store().list_streams("g", prefix, after, limit);
    EXPECT_TRUE(found.has_value()) << found.error().message;
    Texts out;
    if (found) {
      for (const StoredLogStream& stream : *found) out.push_back(stream.name);
    }
    return out;
  }

 private:
  std::unique_ptr<Subject> subject_ = std::make_unique<Subject>();
};

TYPED_TEST_SUITE_P(LogStoreContract);

TYPED_TEST_P(LogStoreContract, AGroupIsFoundAsItWasMadeAlsoAfterARestart) {
  this->ok(this->store().create_group("/app/a", {{"team", "\xC3\xB1"}}, kNow));
  this->ok(this->store().set_retention("/app/a", 7));
  this->restart();
  auto group = this->store().find_group("/app/a");
  ASSERT_TRUE(group.has_value()) << group.error().message;
  ASSERT_TRUE(group->has_value());
  EXPECT_EQ((*group)->name, "/app/a");
  EXPECT_EQ((*group)->created, kNow);
  EXPECT_EQ((*group)->retention_days, 7);
  EXPECT_EQ((*group)->tags, (Tags{{"team", "\xC3\xB1"}}));
  EXPECT_EQ((*group)->stored_bytes, 0);
  this->ok(this->store().set_retention("/app/a", std::nullopt));
  this->ok(this->store().set_tags("/app/a", {{"x", "y"}}));
  group = this->store().find_group("/app/a");
  EXPECT_FALSE((*group)->retention_days.has_value());
  EXPECT_EQ((*group)->tags, (Tags{{"x", "y"}}));
  EXPECT_FALSE(this->store().find_group("/app")->has_value());
}

TYPED_TEST_P(LogStoreContract, WhatIsThereAlreadyIsAConflictAndWhatIsNotIsNotFound) {
  this->make("g", "s");
  this->expect_error(this->store().create_group("g", {}, kNow), ErrorKind::kConflict, "'g' exists already");
  this->expect_error(this->store().create_stream("g", "s", kNow), ErrorKind::kConflict, "'s' exists already");
  this->expect_error(this->store().create_stream("h", "s", kNow), ErrorKind::kNotFound, "group 'h' does not exist");
  this->expect_error(this->store().delete_group("h"), ErrorKind::kNotFound, "'h'");
  this->expect_error(this->store().delete_stream("g", "t"), ErrorKind::kNotFound, "stream 't' does not exist");
  this->expect_error(this->store().set_retention("h", 1), ErrorKind::kNotFound, "'h'");
  this->expect_error(this->store().set_tags("h", {}), ErrorKind::kNotFound, "'h'");
  const std::vector<NewLogEvent> events = {{1, "x"}};
  this->expect_error(this->store().put_events("h", "s", events, kNow), ErrorKind::kNotFound, "'h'");
  this->expect_error(this->store().put_events("g", "t", events, kNow), ErrorKind::kNotFound, "'t'");
  EXPECT_EQ(this->store().read_events("g", "t", {}, kNow).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(this->store().list_streams("h", "", "", 5).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(this->store().find_stream("h", "s").error().kind, ErrorKind::kNotFound);
  EXPECT_FALSE(this->store().find_stream("g", "t")->has_value());
}

TYPED_TEST_P(LogStoreContract, ListsAreSortedByBytesAndPagedByACursor) {
  for (const char* name : {"b", "a/2", "a/1", "A", "a/3", "a0"}) this->ok(this->store().create_group(name, {}, kNow));
  EXPECT_EQ(this->groups("", "", 10), (Texts{"A", "a/1", "a/2", "a/3", "a0", "b"}));
  EXPECT_EQ(this->groups("a/", "", 2), (Texts{"a/1", "a/2"}));
  EXPECT_EQ(this->groups("a/", "a/2", 2), (Texts{"a/3"}));
  EXPECT_EQ(this->groups("a/", "A", 1), (Texts{"a/1"}));
  EXPECT_EQ(this->groups("", "a/3", 10), (Texts{"a0", "b"}));
  EXPECT_EQ(this->groups("c", "", 10), (Texts{}));
  this->ok(this->store().create_group("g", {}, kNow));
  for (const char* name : {"job/2", "job/1", "job0"}) this->ok(this->store().create_stream("g", name, kNow));
  EXPECT_EQ(this->streams("job/", "", 10), (Texts{"job/1", "job/2"}));
  EXPECT_EQ(this->streams("", "job/1", 10), (Texts{"job/2", "job0"}));
  EXPECT_EQ(this->streams("", "", 1), (Texts{"job/1"}));
}

TYPED_TEST_P(LogStoreContract, EventsAreInOrderOfTimeThenOfArrival) {
  this->make("g", "s");
  this->put({{20, "c"}, {10, "a"}, {20, "d"}});
  this->put({{10, "b"}, {30, "e"}, {-5, "before the epoch"}});
  const auto events = this->read();
  EXPECT_EQ(this->texts(events), (std::vector<std::string>{"before the epoch", "a", "b", "c", "d", "e"}));
  EXPECT_EQ(events[1].position.timestamp_ms, 10);
  EXPECT_EQ(events[1].ingested_ms, kNow.millis());
  for (size_t i = 1; i < events.size(); ++i) EXPECT_LT(events[i - 1].position, events[i].position);
  this->restart();
  EXPECT_EQ(this->texts(this->read()), this->texts(events));
}

TYPED_TEST_P(LogStoreContract, PagesFromEitherEndMeetEveryEventOnce) {
  this->make("g", "s");
  std::vector<NewLogEvent> batch;
  for (int n = 0; n < 25; ++n) batch.push_back({n / 3, std::to_string(n)});
  this->put(batch);
  LogRead read;
  read.max_events = 10;
  std::vector<std::string> forward;
  for (auto page = this->read(read); !page.empty(); page = this->read(read)) {
    for (const auto& event : page) forward.push_back(event.message);
    read.from = {page.back().position.timestamp_ms, page.back().position.index + 1};
  }
  ASSERT_EQ(forward.size(), 25u);
  for (int n = 0; n < 25; ++n) EXPECT_EQ(forward[n], std::to_string(n));
  read = {};
  read.take = LogEnd::kNewest;
  read.max_events = 10;
  const auto newest = this->read(read);
  ASSERT_EQ(newest.size(), 10u);
  EXPECT_EQ(newest.front().message, "15");
  EXPECT_EQ(newest.back().message, "24");
  read.until = newest.front().position;
  EXPECT_EQ(this->read(read).back().message, "14");
}

TYPED_TEST_P(LogStoreContract, ARangeOfTimeIsHalfOpen) {
  this->make("g", "s");
  this->put({{10, "a"}, {20, "b"}, {30, "c"}});
  LogRead read;
  read.from = {10, 0};
  read.until = {30, 0};
  EXPECT_EQ(this->texts(this->read(read)), (std::vector<std::string>{"a", "b"}));
}

TYPED_TEST_P(LogStoreContract, APageEndsBeforeItsBytesAreExceededButHoldsOneEvent) {
  this->make("g", "s");
  this->put({{1, std::string(100, 'a')}, {2, std::string(100, 'b')}, {3, std::string(100, 'c')}});
  LogRead read;
  read.max_bytes = 252;  // two events of 100 and 26
  EXPECT_EQ(this->read(read).size(), 2u);
  read.max_bytes = 251;
  EXPECT_EQ(this->read(read).size(), 1u);
  read.max_bytes = 1;
  EXPECT_EQ(this->read(read).size(), 1u);
  read.take = LogEnd::kNewest;
  EXPECT_EQ(this->read(read).front().message[0], 'c');
}

TYPED_TEST_P(LogStoreContract, StreamsTellTheirFirstAndLastEvent) {
  this->make("g", "s");
  auto stream = this->store().find_stream("g", "s");
  ASSERT_TRUE(stream.has_value()) << stream.error().message;
  EXPECT_FALSE((*stream)->first_event_ms.has_value());
  EXPECT_FALSE((*stream)->last_ingested_ms.has_value());
  this->put({{50, "x"}, {40, "yy"}}, Instant::from_millis(60));
  stream = this->store().find_stream("g", "s");
  EXPECT_EQ((*stream)->first_event_ms, 40);
  EXPECT_EQ((*stream)->last_event_ms, 50);
  EXPECT_EQ((*stream)->last_ingested_ms, 60);
  EXPECT_EQ((*this->store().find_group("g"))->stored_bytes, 3);
}

TYPED_TEST_P(LogStoreContract, PlacesAreThoseWhereAnEventBeginsOrEnds) {
  this->make("g", "s");
  this->put({{10, "a"}, {10, "b"}});
  const auto events = this->read();
  const LogPosition first = events[0].position;
  const auto place = [this](LogPosition position) {
    return this->store().is_place("g", "s", position).value_or(false);
  };
  EXPECT_TRUE(place(first));
  EXPECT_TRUE(place({10, events[1].position.index + 1}));
  EXPECT_FALSE(place({10, events[1].position.index + 2}));
  EXPECT_FALSE(place({11, first.index}));
}

TYPED_TEST_P(LogStoreContract, RetentionHidesAtOnceAndSweepRemoves) {
  this->make("g", "s");
  const int64_t now = kNow.millis();
  this->put({{now - 2 * kDayMs, "old"}, {now - kDayMs, "edge"}, {now, "new"}});
  this->ok(this->store().set_retention("g", 1));
  EXPECT_EQ(this->texts(this->read()), (std::vector<std::string>{"edge", "new"}));
  auto swept = this->store().sweep(kNow);
  ASSERT_TRUE(swept.has_value()) << swept.error().message;
  EXPECT_EQ(*swept, 1u);
  EXPECT_EQ((*this->store().find_group("g"))->stored_bytes, 7);
  this->ok(this->store().set_retention("g", std::nullopt));
  EXPECT_EQ(this->texts(this->read()), (std::vector<std::string>{"edge", "new"}));
  EXPECT_EQ(*this->store().sweep(kNow), 0u);
}

TYPED_TEST_P(LogStoreContract, WhatIsDeletedIsGoneAndItsNameIsFree) {
  this->make("g", "s");
  this->put({{1, "first life"}});
  this->ok(this->store().create_stream("g", "t", kNow));
  this->ok(this->store().delete_stream("g", "s"));
  EXPECT_EQ(this->streams("", "", 10), (std::vector<std::string>{"t"}));
  EXPECT_EQ((*this->store().find_group("g"))->stored_bytes, 0);
  this->ok(this->store().create_stream("g", "s", kNow));
  EXPECT_TRUE(this->read().empty());
  this->ok(this->store().delete_group("g"));
  EXPECT_EQ(this->groups("", "", 10), (std::vector<std::string>{}));
  this->make("g", "s");
  EXPECT_EQ(this->streams("", "", 10), (std::vector<std::string>{"s"}));
  EXPECT_TRUE(this->read().empty());
}

TYPED_TEST_P(LogStoreContract, WritersOnManyThreadsLoseNothing) {
  this->make("g", "s");
  std::vector<std::thread> writers;
  for (int w = 0; w < 4; ++w) {
    writers.emplace_back([this, w] {
      for (int n = 0; n < 10; ++n) {
        const std::vector<NewLogEvent> event = {{n, std::to_string(w)}};
        EXPECT_TRUE(this->store().put_events("g", "s", event, kNow).has_value());
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(this->read().size(), 40u);
}

REGISTER_TYPED_TEST_SUITE_P(LogStoreContract, AGroupIsFoundAsItWasMadeAlsoAfterARestart,
                            WhatIsThereAlreadyIsAConflictAndWhatIsNotIsNotFound, ListsAreSortedByBytesAndPagedByACursor,
                            EventsAreInOrderOfTimeThenOfArrival, PagesFromEitherEndMeetEveryEventOnce,
                            ARangeOfTimeIsHalfOpen, APageEndsBeforeItsBytesAreExceededButHoldsOneEvent,
                            StreamsTellTheirFirstAndLastEvent, PlacesAreThoseWhereAnEventBeginsOrEnds,
                            RetentionHidesAtOnceAndSweepRemoves, WhatIsDeletedIsGoneAndItsNameIsFree,
                            WritersOnManyThreadsLoseNothing);

}  // namespace teson::contract
