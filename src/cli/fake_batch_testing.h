// A server of one job, or one array, for tests: its log streams grow and its state moves as the test scripts it.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "cli/http_stand_in_testing.h"
#include "cli/json_access.h"

namespace teson::cli {

class FakeBatch {
 public:
  static constexpr const char* kJob = "1f3c0000-0000-4000-8000-000000000001";

  // `on_describe` runs at each DescribeJobs, before the answer, with how many there have been (from 1): the place to
  // move the job on.
  explicit FakeBatch(std::function<void(FakeBatch&, int)> on_describe);

  // For the script, which runs on the server's thread, and for set-up before the first request.
  Json detail;
  std::map<int, Json> children;  // of the array that the job then is: JobDetails by index
  std::map<std::string, std::vector<std::string>> streams;
  size_t page = 10'000;                          // events a page
  int hang_up = 0;                               // so many requests to come get no answer
  std::map<std::string, StandInAnswer> instead;  // what GetLogEvents of a stream answers
  bool empty_pages = false;                      // each page of events is followed by an empty one with another token

  HttpStandIn& server() { return server_; }
  Json detail_now() const;
  std::vector<Json> requests_to(const std::string& path) const;

 private:
  StandInAnswer answer(const StandInRequest& request);
  StandInAnswer described(const Json& body) const;
  StandInAnswer children_listed(const Json& body) const;
  StandInAnswer log_events(const Json& body);

  std::function<void(FakeBatch&, int)> on_describe_;
  int describes_ = 0;
  HttpStandIn server_;
};

}  // namespace teson::cli
