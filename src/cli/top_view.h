// What `teson top` shows: gathered from a server, and laid out as lines of a screen.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "cli/client.h"

namespace teson::cli {

struct TopView {
  Json overview;           // /teson/v1/overview
  std::vector<Json> next;  // jobs at the front of their queues: {jobId, jobName, jobQueue, createdAt, position}
};

// However many jobs there are: one overview, the front of at most eight queues, one DescribeJobs.
Outcome<TopView> gather_top(Client& client);
Json top_json(const TopView& view);

struct ScreenSize {
  size_t columns = 0;  // 0: nothing is cut
  size_t lines = 0;    // 0: everything is shown
};

// One frame. Lines are cut to the screen's width, the lists so that all of them have a part of it.
std::vector<std::string> top_frame(const TopView& view, Instant at, const std::string& endpoint, ScreenSize screen);

}  // namespace teson::cli
