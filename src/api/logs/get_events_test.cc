#include "api/logs/get_events.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "api/logs/attempt_log.h"
#include "api/logs/temp_dir_testing.h"
#include "api/logs/token.h"
#include "attempt_dir/codec.h"
#include "attempt_dir/log_index.h"

namespace teson::logs {
namespace {

const AttemptId kAttempt{{{3, 4}}, 1};
const std::string kBinding = binding("/aws/batch/job", "train/default/x");

class GetEventsTest : public ::testing::Test {
 protected:
  GetEventsTest() { std::filesystem::create_directories(paths_.directory); }

  // Each line gets a time of its own: 1000, 1001, ...
  void write_lines(int count, bool ended = true) {
    std::ofstream log(paths_.log(), std::ios::binary | std::ios::app);
    std::ofstream index(paths_.log_index(), std::ios::binary | std::ios::app);
    for (int i = 0; i < count; ++i) {
      const std::string line = "line " + std::to_string(written_) + "\n";
      log << line;
      size_ += line.size();
      char bytes[kLogMarkBytes];
      encode_log_mark({size_, 1000 + written_}, bytes);
      index.write(bytes, sizeof bytes);
      ++written_;
    }
    if (ended) {
      std::ofstream(paths_.result()) << encode_result(
          {kAttempt, {.cause = EndCause::kExited, .exit_code = 0, .ended = Instant::from_millis(99'999)}, {}});
    }
  }
  GetPage get(const GetQuery& query) {
    auto log = AttemptLog::open(paths_, Instant{});
    EXPECT_TRUE(log.has_value());
    auto page = get_events(**log, query, kBinding);
    EXPECT_TRUE(page.has_value()) << page.error().message;
    return page.value_or(GetPage{});
  }
  ErrorKind refused(const std::string& token) {
    auto log = AttemptLog::open(paths_, Instant{});
    const auto page = get_events(**log, {.token = token}, kBinding);
    EXPECT_FALSE(page.has_value());
    return page ? ErrorKind::kIo : page.error().kind;
  }

  TempDir data_;
  AttemptPaths paths_ = attempt_paths(data_.path(), kAttempt);
  int written_ = 0;
  size_t size_ = 0;
};

std::vector<std::string> messages(const GetPage& page) {
  std::vector<std::string> result;
  for (const Event& event : page.events) result.push_back(event.message);
  return result;
}

std::vector<std::string> lines(int from, int until) {
  std::vector<std::string> result;
  for (int i = from; i < until; ++i) result.push_back("line " + std::to_string(i));
  return result;
}

TEST_F(GetEventsTest, FromHeadThenForwardUntilTheTokenRepeats) {
  write_lines(7);
  auto page = get({.from_head = true, .limits = {.events = 3}});
  EXPECT_EQ(messages(page), lines(0, 3));
  page = get({.from_head = true, .token = page.forward_token, .limits = {.events = 3}});
  EXPECT_EQ(messages(page), lines(3, 6));
  page = get({.from_head = true, .token = page.forward_token, .limits = {.events = 3}});
  EXPECT_EQ(messages(page), lines(6, 7));
  const std::string last = page.forward_token;
  page = get({.from_head = true, .token = last, .limits = {.events = 3}});
  EXPECT_EQ(messages(page), lines(0, 0));
  EXPECT_EQ(page.forward_token, last);
}

TEST_F(GetEventsTest, WithoutFromHeadTheNewestComeAndTheBackwardTokenLeadsToTheFirst) {
  write_lines(7);
  auto page = get({.limits = {.events = 3}});
  EXPECT_EQ(messages(page), lines(4, 7));
  page = get({.token = page.backward_token, .limits = {.events = 3}});
  EXPECT_EQ(messages(page), lines(1, 4));
  page = get({.token = page.backward_token, .limits = {.events = 3}});
  EXPECT_EQ(messages(page), lines(0, 1));
  const std::string first = page.backward_token;
  page = get({.token = first, .limits = {.events = 3}});
  EXPECT_EQ(messages(page), lines(0, 0));
  EXPECT_EQ(page.backward_token, first);
}

TEST_F(GetEventsTest, TokensTurnAround) {
  write_lines(7);
  const auto newest = get({.limits = {.events = 3}});
  const auto older = get({.token = newest.backward_token, .limits = {.events = 2}});
  EXPECT_EQ(messages(older), lines(2, 4));
  EXPECT_EQ(messages(get({.token = older.forward_token, .limits = {.events = 3}})), lines(4, 7));
}

TEST_F(GetEventsTest, ForwardTokenAtTheEndShowsWhatIsWrittenLater) {
  write_lines(0, false);
  auto page = get({.from_head = true});
  EXPECT_TRUE(page.events.empty());
  write_lines(2, false);
  page = get({.from_head = true, .token = page.forward_token});
  EXPECT_EQ(messages(page), lines(0, 2));
  const std::string token = page.forward_token;
  EXPECT_TRUE(get({.from_head = true, .token = token}).events.empty());
  write_lines(2, true);
  EXPECT_EQ(messages(get({.from_head = true, .token = token})), lines(2, 4));
}

TEST_F(GetEventsTest, StartIsInclusiveAndEndExclusiveInBothDirections) {
  write_lines(10);
  EXPECT_EQ(messages(get({.from_millis = 1003, .until_millis = 1006, .from_head = true})), lines(3, 6));
  EXPECT_EQ(messages(get({.from_millis = 1003, .until_millis = 1006, .limits = {.events = 2}})), lines(4, 6));
  EXPECT_TRUE(get({.from_millis = 1006, .until_millis = 1003, .from_head = true}).events.empty());
  const auto page = get({.from_millis = 1003, .until_millis = 1006, .limits = {.events = 2}});
  const auto before = get({.from_millis = 1003, .until_millis = 1006, .token = page.backward_token});
  EXPECT_EQ(messages(before), lines(3, 4));
  const auto none = get({.from_millis = 1003, .until_millis = 1006, .token = before.backward_token});
  EXPECT_TRUE(none.events.empty());
  EXPECT_EQ(none.backward_token, before.backward_token);
}

TEST_F(GetEventsTest, TokensThatWereNotGivenOutAreRefused) {
  write_lines(3);
  EXPECT_EQ(refused("f/0/" + binding("/aws/batch/job", "another")), ErrorKind::kInvalid);
  EXPECT_EQ(refused("f/3/" + kBinding), ErrorKind::kInvalid);
  EXPECT_EQ(refused("f/22/" + kBinding), ErrorKind::kInvalid);
  EXPECT_EQ(refused("nonsense"), ErrorKind::kInvalid);
}

TEST_F(GetEventsTest, FiftyThousandLinesComeWholeAndInOrderBothWays) {
  write_lines(50'000);
  std::vector<std::string> forward;
  GetQuery query{.from_head = true};
  for (;;) {
    const auto page = get(query);
    if (page.events.empty()) break;
    for (const Event& event : page.events) forward.push_back(event.message);
    query.token = page.forward_token;
  }
  EXPECT_EQ(forward, lines(0, 50'000));

  std::vector<std::string> backward;
  query = {};
  for (;;) {
    const auto page = get(query);
    if (page.events.empty()) break;
    for (auto event = page.events.rbegin(); event != page.events.rend(); ++event) backward.push_back(event->message);
    query.token = page.backward_token;
  }
  std::ranges::reverse(backward);
  EXPECT_EQ(backward, forward);
}

}  // namespace
}  // namespace teson::logs
