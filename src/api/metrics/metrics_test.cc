#include <gtest/gtest.h>

#include "api/metrics/exposition.h"
#include "api/metrics/request_counts.h"
#include "ports/commit_times.h"

namespace teson::metrics {
namespace {

TEST(Exposition, FamiliesSamplesAndEscapesAreTheFormats) {
  Exposition out;
  out.family("x_total", "counter", "A \\ and\na line.");
  out.sample({{"queue", "a\"b\\c\nd"}, {"of", "e"}}, uint64_t{7});
  out.sample({}, 0.25);
  EXPECT_EQ(out.text(),
            "# HELP x_total A \\\\ and\\na line.\n# TYPE x_total counter\n"
            "x_total{queue=\"a\\\"b\\\\c\\nd\",of=\"e\"} 7\nx_total 0.25\n");
}

TEST(Exposition, AHistogramsBucketsAddUp) {
  CommitTimes times;
  for (const double seconds : {0.0004, 0.0005, 0.02, 7.0}) times.note(seconds);
  Exposition out;
  out.family("c", "histogram", "h");
  out.histogram(CommitTimes::kBounds, times.counts, 1.5);
  EXPECT_EQ(out.text(),
            "# HELP c h\n# TYPE c histogram\nc_bucket{le=\"0.0005\"} 2\nc_bucket{le=\"0.001\"} 2\n"
            "c_bucket{le=\"0.0025\"} 2\nc_bucket{le=\"0.005\"} 2\nc_bucket{le=\"0.01\"} 2\nc_bucket{le=\"0.05\"} 3\n"
            "c_bucket{le=\"0.25\"} 3\nc_bucket{le=\"1\"} 3\nc_bucket{le=\"5\"} 3\nc_bucket{le=\"+Inf\"} 4\n"
            "c_sum 1.5\nc_count 4\n");
  EXPECT_NEAR(times.seconds, 7.0209, 1e-9);
}

TEST(RequestCounts, AnswersAreCountedByFamilyAndClass) {
  http::FunctionHandler behind([](http::Request request, http::Reply reply) {
    http::Response response;
    response.status = request.body == "bad" ? 400 : 200;
    reply(std::move(response));
  });
  RequestCounts counts(behind);
  const auto ask = [&](const char* path, const char* target, const char* body) {
    http::Request request;
    request.path = path;
    if (*target) request.headers.add("x-amz-target", target);
    request.body = body;
    counts.handle(std::move(request), [](http::Response) {});
  };
  ask("/v1/submitjob", "", "");
  ask("/v1/submitjob", "", "bad");
  ask("/", "Logs_20140328.GetLogEvents", "");
  ask("/nowhere", "", "bad");
  EXPECT_EQ(counts.count(0, 0), 1u);
  EXPECT_EQ(counts.count(0, 1), 1u);
  EXPECT_EQ(counts.count(1, 0), 1u);
  EXPECT_EQ(counts.count(5, 1), 1u);
}

}  // namespace
}  // namespace teson::metrics
