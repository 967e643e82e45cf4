#include "api/logs/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace teson::logs {
namespace {

// Streams as lists of (time, message).
class FakeSource : public EventSource {
 public:
  explicit FakeSource(const std::vector<std::pair<int64_t, std::string>>& events) {
    for (uint64_t i = 0; i < events.size(); ++i)
      events_.push_back({{0, i}, {0, i + 1}, events[i].first, events[i].first, events[i].second});
  }
  Result<bool> is_place(Position position) override { return position.index <= events_.size(); }
  Result<Position> first_at_or_after(int64_t millis) override {
    const auto at = std::ranges::find_if(events_, [&](const Event& event) { return event.millis >= millis; });
    return Position{0, static_cast<uint64_t>(at - events_.begin())};
  }
  Result<Position> end() override { return Position{0, events_.size()}; }
  Result<std::vector<Event>> first(Position from, Position, PageLimits limits) override {
    std::vector<Event> page;
    for (size_t i = from.index; i < events_.size() && page.size() < limits.events; ++i) page.push_back(events_[i]);
    return page;
  }
  Result<std::vector<Event>> last(Position, Position, PageLimits) override { return std::vector<Event>(); }

 private:
  std::vector<Event> events_;
};

class FakeGroup : public LogGroup {
 public:
  std::map<std::string, std::vector<std::pair<int64_t, std::string>>> streams;
  mutable std::vector<std::string> opened;

  Result<std::optional<StreamInfo>> find(const std::string&) const override { return std::optional<StreamInfo>(); }
  Result<std::vector<StreamInfo>> list(const std::string& prefix, const std::string& after, int limit) const override {
    std::vector<StreamInfo> page;
    for (const auto& [name, events] : streams) {
      if (name.starts_with(prefix) && name > after && page.size() < static_cast<size_t>(limit))
        page.push_back({.name = name});
    }
    return page;
  }
  Result<std::unique_ptr<EventSource>> open(const StreamInfo& stream) const override {
    opened.push_back(stream.name);
    return std::make_unique<FakeSource>(streams.at(stream.name));
  }
  Result<StreamTimes> times(const StreamInfo&) const override { return StreamTimes(); }
  bool is_surely_before(const StreamInfo& stream, int64_t millis) const override {
    const auto& events = streams.at(stream.name);
    return events.empty() || events.back().first < millis;
  }
};

SearchQuery query_of(const FakeGroup& group) {
  SearchQuery query;
  query.streams = *all_streams(group, "");
  return query;
}

// Every page, as "time stream message".
std::vector<std::string> run(const FakeGroup& group, SearchQuery query, std::vector<size_t>* page_sizes = nullptr) {
  std::vector<std::string> lines;
  for (int pages = 0; pages < 1000; ++pages) {
    const auto page = search(group, query);
    if (!page) {
      ADD_FAILURE() << page.error().message;
      return lines;
    }
    for (const FoundEvent& found : page->events)
      lines.push_back(std::to_string(found.event.millis) + " " + found.stream + " " + found.event.message);
    if (page_sizes != nullptr) page_sizes->push_back(page->events.size());
    if (!page->next) return lines;
    query.after = page->next;
  }
  ADD_FAILURE() << "the pages never end";
  return lines;
}

FakeGroup three_streams() {
  FakeGroup group;
  group.streams["a"] = {{10, "a1"}, {20, "a2"}, {20, "a3"}, {40, "a4"}};
  group.streams["b"] = {{5, "b1"}, {20, "b2"}, {50, "b3"}};
  group.streams["c"] = {};
  return group;
}

const std::vector<std::string> kInOrder = {"5 b b1", "10 a a1", "20 a a2", "20 a a3", "20 b b2", "40 a a4", "50 b b3"};

TEST(Search, StreamsAreInterleavedByTimeThenName) {
  const FakeGroup group = three_streams();
  EXPECT_EQ(run(group, query_of(group)), kInOrder);
}

TEST(Search, AnyPageSizeGivesTheSameEvents) {
  const FakeGroup group = three_streams();
  for (size_t size = 1; size <= 8; ++size) {
    SearchQuery query = query_of(group);
    query.limits.events = size;
    std::vector<size_t> sizes;
    EXPECT_EQ(run(group, query, &sizes), kInOrder) << size;
    EXPECT_EQ(sizes.front(), std::min<size_t>(size, 7));
  }
}

TEST(Search, PageThatTakesTheRestHasNoToken) {
  const FakeGroup group = three_streams();
  EXPECT_FALSE(search(group, query_of(group))->next);
}

TEST(Search, BytesEndAPageToo) {
  const FakeGroup group = three_streams();
  SearchQuery query = query_of(group);
  query.limits.bytes = 2 * (2 + kEventOverheadBytes);
  std::vector<size_t> sizes;
  EXPECT_EQ(run(group, query, &sizes), kInOrder);
  EXPECT_EQ(sizes, (std::vector<size_t>{2, 2, 2, 1}));
}

TEST(Search, TimeRangeIsInclusiveAtBothEnds) {
  const FakeGroup group = three_streams();
  SearchQuery query = query_of(group);
  query.from_millis = 10;
  query.until_millis = 40;
  query.limits.events = 2;
  EXPECT_EQ(run(group, query), std::vector<std::string>(kInOrder.begin() + 1, kInOrder.end() - 1));
}

TEST(Search, OnlyMatchingEventsCount) {
  const FakeGroup group = three_streams();
  SearchQuery query = query_of(group);
  query.pattern = *FilterPattern::parse("?2 ?4");
  query.limits.events = 1;
  EXPECT_EQ(run(group, query), (std::vector<std::string>{"20 a a2", "20 b b2", "40 a a4"}));
}

TEST(Search, MuchTextWithoutAMatchEndsAnEmptyPageWithAToken) {
  FakeGroup group;
  for (int i = 0; i < 1000; ++i) group.streams["a"].emplace_back(i, "nothing");
  group.streams["a"].emplace_back(1000, "needle");
  SearchQuery query = query_of(group);
  query.pattern = *FilterPattern::parse("needle");
  query.scan_bytes = 100 * (7 + kEventOverheadBytes);
  std::vector<size_t> sizes;
  EXPECT_EQ(run(group, query, &sizes), (std::vector<std::string>{"1000 a needle"}));
  EXPECT_EQ(sizes, (std::vector<size_t>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
}

TEST(Search, StreamsThatEndedBeforeAreNotOpened) {
  FakeGroup group = three_streams();
  SearchQuery query = query_of(group);
  query.from_millis = 45;
  EXPECT_EQ(run(group, query), (std::vector<std::string>{"50 b b3"}));
  EXPECT_EQ(std::ranges::count(group.opened, "a"), 0);
}

TEST(Search, EventsBeyondReadAheadComeInOrder) {
  FakeGroup group;
  std::vector<std::string> expected;
  for (int i = 0; i < 2000; ++i) {
    group.streams["a"].emplace_back(i, "x");
    group.streams["b"].emplace_back(i, "x");
    expected.push_back(std::to_string(i) + " a x");
    expected.push_back(std::to_string(i) + " b x");
  }
  SearchQuery query = query_of(group);
  query.limits.events = 777;
  EXPECT_EQ(run(group, query), expected);
}

TEST(Search, MadeUpTokenIsRefused) {
  const FakeGroup group = three_streams();
  SearchQuery query = query_of(group);
  query.after = SearchToken{20, "a", {0, 99}};
  EXPECT_EQ(search(group, query).error().kind, ErrorKind::kInvalid);
}

TEST(Search, EventIdsAreNumbersOfTheirOwn) {
  const Event event{{0, 7}, {0, 9}, 1'700'000'000'123, 0, ""};
  const std::string id = event_id("a", event);
  EXPECT_EQ(id.size(), 56u);
  EXPECT_EQ(id.substr(0, 20), "00000001700000000123");
  EXPECT_EQ(id.substr(36), "00000000000000000007");
  EXPECT_EQ(id.find_first_not_of("0123456789"), std::string::npos);
  EXPECT_EQ(event_id("a", event), id);
  EXPECT_NE(event_id("b", event), id);
}

}  // namespace
}  // namespace teson::logs
