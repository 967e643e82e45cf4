#include "cli/top_view.h"

#include <gtest/gtest.h>

#include "cli/text.h"

namespace teson::cli {
namespace {

Json job(int number) {
  return Json::object({{"jobId", "1f3c0000-0000-4000-8000-" + std::to_string(100'000'000'000 + number)},
                       {"jobName", "train\x1b[2J"},
                       {"owner", "ana"},
                       {"jobQueue", "spot"},
                       {"attempt", 2},
                       {"startedAt", 1'000},
                       {"used", Json::parse(R"({"vcpus": 0.5, "memoryMiB": 2048, "gpus": 0})")}});
}

TopView view_of(int running) {
  TopView view;
  view.overview = Json::parse(R"({"trouble": "",
      "host": {"has": {"vcpus": 8, "memoryMiB": 4096, "gpus": 1}, "used": {"vcpus": 0.5, "memoryMiB": 2048, "gpus": 0}},
      "queues": [{"jobQueueName": "spot", "state": "ENABLED", "priority": 3, "runnable": 4000, "starting": 1,
                  "running": 200}],
      "instances": [{"instanceId": "i-1", "computeEnvironment": "e", "instanceType": "m5.large", "spot": true,
                     "startedAt": 1000, "attempts": 1, "has": {"vcpus": 2, "memoryMiB": 4096, "gpus": 0},
                     "used": {"vcpus": 0.5, "memoryMiB": 2048, "gpus": 0}}],
      "instancesInAll": 1})");
  view.overview["running"] = Json::array();
  for (int i = 0; i < running; ++i) view.overview["running"].push_back(job(i));
  view.overview["runningInAll"] = running;
  return view;
}

constexpr Instant kLater{62'000'000};

bool has(const std::vector<std::string>& lines, const std::string& text) {
  for (const std::string& line : lines) {
    if (line.find(text) != std::string::npos) return true;
  }
  return false;
}

TEST(TopView, ShowsQueuesInstancesAndWhatRuns) {
  const auto lines = top_frame(view_of(1), kLater, "http://s", {0, 0});
  EXPECT_TRUE(has(lines, "0.5 of 8 vCPU, 2.0 GiB of 4.0 GiB, 0 of 1 GPU"));
  EXPECT_TRUE(has(lines, "spot   ENABLED         3      4000         1      200"));
  EXPECT_TRUE(has(lines, "i-1       e            m5.large (spot)     1  1m01s  0.5 of 2 vCPU"));
  EXPECT_TRUE(has(lines, "1m01s   0.5  2.0 GiB    0"));
  EXPECT_TRUE(has(lines, "train\\x1b[2J"));  // what others wrote moves no cursor
  EXPECT_FALSE(has(lines, "more"));
}

TEST(TopView, AFrameFitsItsScreen) {
  TopView view = view_of(200);
  view.overview["runningInAll"] = 5000;
  for (const ScreenSize screen : {ScreenSize{80, 24}, ScreenSize{20, 5}, ScreenSize{200, 60}, ScreenSize{1, 1}}) {
    const auto lines = top_frame(view, kLater, "http://s", screen);
    EXPECT_LE(lines.size(), screen.lines);
    for (const std::string& line : lines) EXPECT_LE(display_width(line), screen.columns) << line;
  }
  EXPECT_TRUE(has(top_frame(view, kLater, "http://s", {80, 24}), "... 49"));  // 49xx more
}

TEST(TopView, SaysWhyNothingStarts) {
  TopView view = view_of(0);
  view.overview["trouble"] = "the disk is full";
  EXPECT_TRUE(has(top_frame(view, kLater, "http://s", {80, 24}), "nothing starts: the disk is full"));
}

}  // namespace
}  // namespace teson::cli
