#include "api/logs/attempt_log.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "api/logs/temp_dir_testing.h"
#include "attempt_dir/codec.h"
#include "attempt_dir/lock.h"
#include "attempt_dir/log_index.h"

namespace teson::logs {
namespace {

const AttemptId kAttempt{{{1, 2}}, 1};
const Instant kNow = Instant::from_millis(4'000'000'000'000);

class AttemptLogTest : public ::testing::Test {
 protected:
  AttemptLogTest() { std::filesystem::create_directories(paths_.directory); }

  void write(const std::string& bytes) { std::ofstream(paths_.log(), std::ios::binary) << bytes; }
  void mark(uint64_t offset, int64_t millis) {
    char bytes[kLogMarkBytes];
    encode_log_mark({offset, millis}, bytes);
    std::ofstream(paths_.log_index(), std::ios::binary | std::ios::app).write(bytes, sizeof bytes);
  }
  void end_at(int64_t millis) {
    std::ofstream(paths_.result()) << encode_result(
        {kAttempt, {.cause = EndCause::kExited, .exit_code = 0, .ended = Instant::from_millis(millis)}, {}});
  }
  void write_lock(const LockRecord& record) { std::ofstream(paths_.file(kLockFile)) << encode_lock_record(record); }

  std::unique_ptr<AttemptLog> open(Instant now = kNow) {
    auto log = AttemptLog::open(paths_, now);
    EXPECT_TRUE(log.has_value()) << log.error().message;
    return std::move(*log);
  }
  std::vector<std::pair<std::string, int64_t>> events(EventSource& log) {
    std::vector<std::pair<std::string, int64_t>> result;
    const auto found = log.first(kStreamBegin, kStreamEnd, {});
    for (const Event& event : *found) {
      EXPECT_EQ(event.ingested_millis, event.millis);
      result.emplace_back(event.message, event.millis);
    }
    return result;
  }

  TempDir data_;
  AttemptPaths paths_ = attempt_paths(data_.path(), kAttempt);
};

using Events = std::vector<std::pair<std::string, int64_t>>;

TEST_F(AttemptLogTest, EventHasTheTimeAtWhichItsLastByteWasThere) {
  write("one\ntwo\nthree\n");
  mark(4, 1000);   // "one\n"
  mark(6, 1200);   // "tw"
  mark(14, 1400);  // all
  EXPECT_EQ(events(*open()), (Events{{"one", 1000}, {"two", 1400}, {"three", 1400}}));
}

TEST_F(AttemptLogTest, RunningAttemptShowsWhatIsNotedAndTerminated) {
  write("one\ntwo\nrest");
  mark(4, 1000);
  EXPECT_EQ(events(*open()), (Events{{"one", 1000}}));
  mark(12, 1500);
  EXPECT_EQ(events(*open()), (Events{{"one", 1000}, {"two", 1500}}));
}

TEST_F(AttemptLogTest, EndedAttemptShowsAllWithItsUnterminatedLastLine) {
  write("one\ntwo\nrest");
  mark(4, 1000);
  end_at(2000);
  const auto log = open();
  EXPECT_TRUE(log->complete());
  EXPECT_EQ(events(*log), (Events{{"one", 1000}, {"two", 2000}, {"rest", 2000}}));
}

TEST_F(AttemptLogTest, TimeNeverGoesBackAtTheEnd) {
  write("one\ntwo\n");
  mark(4, 3000);
  end_at(2000);
  EXPECT_EQ(events(*open()), (Events{{"one", 3000}, {"two", 3000}}));
}

TEST_F(AttemptLogTest, NothingWrittenIsAnEmptyStream) {
  auto log = open();
  EXPECT_EQ(events(*log), Events{});
  EXPECT_EQ(log->end()->index, 0u);
  EXPECT_EQ(log->first_at_or_after(5)->index, 0u);
  EXPECT_FALSE(log->complete());
}

TEST_F(AttemptLogTest, DeadAgentsLogIsCompleteOnceItIsQuiet) {
  write("one\nlast words");
  mark(4, 1000);
  write_lock({.pid = 1, .start_ticks = 17, .boot_id = "another boot", .cgroups = {}});
  const auto written = std::filesystem::last_write_time(paths_.log());
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::file_clock::to_sys(written).time_since_epoch())
          .count();
  EXPECT_EQ(events(*open(Instant{micros + 1'000'000})), (Events{{"one", 1000}}));
  EXPECT_EQ(events(*open(Instant{micros + 6'000'000})), (Events{{"one", 1000}, {"last words", micros / 1000}}));
}

TEST_F(AttemptLogTest, LivingAgentsLogIsNotComplete) {
  write("one\nrest");
  mark(8, 1000);
  write_lock({.pid = ::getpid(),
              .start_ticks = process_start_ticks(::getpid()).value(),
              .boot_id = current_boot_id(),
              .cgroups = {}});
  EXPECT_EQ(events(*open()), (Events{{"one", 1000}}));
}

TEST_F(AttemptLogTest, SeekFindsTheFirstEventThatIsNotOlder) {
  write("one\ntwo\nthree\nfour\n");
  mark(4, 1000);
  mark(6, 1200);
  mark(14, 1400);
  end_at(2000);
  auto log = open();
  for (const auto& [millis, offset] : std::vector<std::pair<int64_t, uint64_t>>{{0, 0},
                                                                                {1000, 0},
                                                                                {1001, 4},
                                                                                {1200, 4},
                                                                                {1201, 4},
                                                                                {1400, 4},
                                                                                {1401, 14},
                                                                                {2000, 14},
                                                                                {2001, 19},
                                                                                {9000, 19}})
    EXPECT_EQ(log->first_at_or_after(millis)->index, offset) << millis;
}

TEST_F(AttemptLogTest, SeekInARunningLogStopsAtItsEnd) {
  write("one\ntwo\n");
  mark(4, 1000);
  mark(8, 1100);
  auto log = open();
  EXPECT_EQ(log->first_at_or_after(1100)->index, 4u);
  EXPECT_EQ(log->first_at_or_after(1101)->index, 8u);
}

TEST_F(AttemptLogTest, PagesHaveAtMostAMebibyteAndTheEventsAskedFor) {
  const std::string line(100'000 - 1, 'x');
  std::string bytes;
  for (int i = 0; i < 30; ++i) bytes += line + "\n";
  write(bytes);
  end_at(2000);
  auto log = open();
  // 10 events of 99,999 + 26 bytes fit in 1,048,576.
  EXPECT_EQ(log->first(kStreamBegin, kStreamEnd, {})->size(), 10u);
  const auto last = log->last(kStreamBegin, kStreamEnd, {});
  ASSERT_EQ(last->size(), 10u);
  EXPECT_EQ(last->front().begin.index, 2'000'000u);
  EXPECT_EQ(last->back().end.index, 3'000'000u);
  EXPECT_EQ(log->first({0, 200'000}, {0, 400'000}, {})->size(), 2u);
  EXPECT_EQ(log->last({0, 200'000}, {0, 400'000}, {.events = 1})->front().begin.index, 300'000u);
  EXPECT_EQ(log->first(kStreamBegin, kStreamEnd, {.events = 3})->size(), 3u);
}

TEST_F(AttemptLogTest, APageOfAHugeLogIsReadForLittle) {
  {
    std::ofstream file(paths_.log(), std::ios::binary);
    const std::string line(999, 'x');
    for (int i = 0; i < 40'000; ++i) file << line << '\n';
  }
  end_at(2000);
  auto log = open();
  EXPECT_EQ(log->last(kStreamBegin, kStreamEnd, {.events = 10})->size(), 10u);
  EXPECT_EQ(log->first({0, 20'000'000}, kStreamEnd, {.events = 10})->front().begin.index, 20'000'000u);
  EXPECT_LT(log->bytes_read(), 1'000'000u);
}

TEST_F(AttemptLogTest, BytesThatAreNotTextAreReplaced) {
  using namespace std::string_literals;
  write("a\xFF\n\0b\n"s);
  end_at(2000);
  EXPECT_EQ(events(*open()), (Events{{"a\uFFFD", 2000}, {"\0b"s, 2000}}));
}

TEST_F(AttemptLogTest, OnlyBoundariesArePlaces) {
  write("one\ntwo\n");
  end_at(2000);
  auto log = open();
  for (const uint64_t offset : {0, 4, 8}) EXPECT_TRUE(*log->is_place({0, offset}));
  for (const uint64_t offset : {1, 5, 9}) EXPECT_FALSE(*log->is_place({0, offset}));
  EXPECT_FALSE(*log->is_place({5, 4}));
}

}  // namespace
}  // namespace teson::logs
