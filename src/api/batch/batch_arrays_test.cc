// Array jobs over the wire: children, reruns, throttles, stops.
#include "api/batch/batch_fixture_testing.h"
#include "api/batch/submit.h"

namespace teson::batch {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST_F(Batch, AnArraysChildrenAreDescribedAndListedLiveWaitingAndFinished) {
  const std::string id = world_.submit({{"arrayProperties", {{"size", 6}}}});
  const auto orders = world_.launcher.orders(4);
  EXPECT_EQ(orders[2].id.job.text(), id + ":2");
  const auto variable = [&](const char* name) {
    for (const auto& [key, value] : orders[2].environment) {
      if (key == name) return value;
    }
    return std::string();
  };
  EXPECT_EQ(variable("AWS_BATCH_JOB_ID"), id + ":2");
  EXPECT_EQ(variable("AWS_BATCH_JOB_ARRAY_INDEX"), "2");
  EXPECT_EQ(variable("AWS_BATCH_JOB_ARRAY_SIZE"), "6");
  world_.report_started(orders[0].id);
  world_.report_started(orders[1].id);
  world_.report_exit(orders[1].id, 3);
  world_.launcher.orders(5);

  const Json array = world_.describe(id);
  EXPECT_EQ(array["status"], "PENDING");
  EXPECT_EQ(array["arrayProperties"], Json({{"size", 6},
                                            {"statusSummary",
                                             {{"SUBMITTED", 0},
                                              {"PENDING", 0},
                                              {"RUNNABLE", 1},
                                              {"STARTING", 3},
                                              {"RUNNING", 1},
                                              {"SUCCEEDED", 0},
                                              {"FAILED", 1}}}}));
  EXPECT_EQ(array["statusReason"], "1 of 6 children have ended, 4 run, 1 wait");
  const Json failed = world_.describe(id + ":1");
  EXPECT_EQ(failed["status"], "FAILED");
  EXPECT_EQ(failed["container"]["exitCode"], 3);
  EXPECT_EQ(failed["jobName"], array["jobName"]);
  EXPECT_EQ(failed["arrayProperties"], Json({{"size", 6}, {"index", 1}}));
  EXPECT_EQ(world_.describe(id + ":5")["status"], "RUNNABLE");
  EXPECT_EQ(world_.post("describejobs", {{"jobs", {id + ":6"}}}).body["jobs"], Json::array());

  const auto list = [&](Json more) {
    more["arrayJobId"] = id;
    const Answer answer = world_.post("listjobs", more);
    std::string out;
    for (const Json& job : answer.body["jobSummaryList"]) {
      out += std::to_string(job["arrayProperties"]["index"].get<int>()) + job["status"].get<std::string>() + " ";
    }
    return answer.body.contains("nextToken") ? out + "..." : out;
  };
  EXPECT_EQ(list({}), "0RUNNING ");
  EXPECT_EQ(list({{"jobStatus", "FAILED"}}), "1FAILED ");
  EXPECT_EQ(list({{"jobStatus", "STARTING"}, {"maxResults", 2}}), "2STARTING 3STARTING ...");
  const std::string next =
      world_.post("listjobs", {{"arrayJobId", id}, {"jobStatus", "STARTING"}, {"maxResults", 2}}).body["nextToken"];
  EXPECT_EQ(list({{"jobStatus", "STARTING"}, {"maxResults", 2}, {"nextToken", next}}), "4STARTING ");
  // Among the queue's jobs there is the array alone.
  EXPECT_EQ(world_.post("listjobs", {{"jobQueue", "main"}, {"jobStatus", "PENDING"}}).body["jobSummaryList"].size(),
            1u);
  EXPECT_EQ(world_.post("listjobs", {{"jobQueue", "main"}, {"jobStatus", "RUNNING"}}).body["jobSummaryList"].size(),
            0u);
}

// C13: exactly those that failed, under the same indexes.
TEST_F(Batch, ARerunHasTheFailedChildrenAlone) {
  const std::string id = world_.submit({{"arrayProperties", {{"size", 4}}}});
  auto orders = world_.launcher.orders(4);
  for (const LaunchOrder& order : orders) {
    world_.report_started(order.id);
    if (order.id.job.index != 3) world_.report_exit(order.id, order.id.job.index % 2);
  }
  Json body = {
      {"jobName", "again"}, {"jobQueue", "main"}, {"jobDefinition", "train"}, {"tags", {{"teson:rerun-of", id}}}};
  expect_refused(world_.post("submitjob", body), "has not ended yet (3 of 4 children have ended, 1 run, 0 wait)");
  world_.report_exit(orders[3].id, 7);
  EXPECT_EQ(world_.describe(id)["status"], "FAILED");
  EXPECT_EQ(world_.describe(id)["statusReason"], "Array Child Job failed");
  EXPECT_EQ(world_.describe(id + ":3")["container"]["exitCode"], 7);

  const std::string again = world_.post("submitjob", body).body["jobId"];
  orders = world_.launcher.orders(6);
  EXPECT_EQ(orders[4].id.job.text(), again + ":1");
  EXPECT_EQ(orders[5].id.job.text(), again + ":3");
  EXPECT_EQ(world_.describe(again)["arrayProperties"]["size"], 4);
  for (const int i : {4, 5}) {
    world_.report_started(orders[i].id);
    world_.report_exit(orders[i].id, 0);
  }
  EXPECT_EQ(world_.describe(again)["arrayProperties"]["statusSummary"]["SUCCEEDED"], 2);
  EXPECT_EQ(world_.describe(again)["status"], "SUCCEEDED");
  body["tags"]["teson:rerun-of"] = again;
  expect_refused(world_.post("submitjob", body), "no child of job " + again + " failed");
  body["tags"]["teson:rerun-of"] = random_job_id().text();
  expect_refused(world_.post("submitjob", body), "does not exist");
}

// C14
TEST_F(Batch, AnArraysThrottleIsATagThatMayChange) {
  const std::string id = world_.submit({{"arrayProperties", {{"size", 6}}}, {"tags", {{"teson:array-throttle", "1"}}}});
  world_.launcher.orders(1);
  EXPECT_EQ(world_.describe(id)["arrayProperties"]["statusSummary"]["STARTING"], 1);
  const std::string arn = "arn:aws:batch:us-east-1:123456789012:job/" + id;
  EXPECT_EQ(tags("POST", arn, "", {{"tags", {{"teson:array-throttle", "3"}}}}).status, 200);
  EXPECT_EQ(world_.describe(id)["arrayProperties"]["statusSummary"]["STARTING"], 3);
  EXPECT_EQ(tags("DELETE", arn, "tagKeys=teson%3Aarray-throttle").status, 200);
  EXPECT_EQ(world_.describe(id)["arrayProperties"]["statusSummary"]["STARTING"], 4);
  expect_refused(tags("POST", arn, "", {{"tags", {{"teson:array-throttle", "x"}}}}), "teson:array-throttle");
  expect_refused(tags("POST", arn + ":1", "", {{"tags", {{"a", "b"}}}}), "tag job " + id);
}

TEST_F(Batch, StoppingAnArrayAndItsChildren) {
  const std::string id = world_.submit({{"arrayProperties", {{"size", 6}}}});
  const auto orders = world_.launcher.orders(4);
  EXPECT_EQ(world_.post("terminatejob", {{"jobId", id + ":5"}, {"reason", "not this one"}}).status, 200);
  EXPECT_EQ(world_.describe(id + ":5")["statusReason"], "not this one");
  expect_refused(world_.post("terminatejob", {{"jobId", id + ":6"}, {"reason", "x"}}), "does not exist");
  EXPECT_EQ(world_.post("terminatejob", {{"jobId", id}, {"reason", "enough"}}).status, 200);
  EXPECT_EQ(world_.describe(id + ":4")["status"], "FAILED");
  for (const LaunchOrder& order : orders) world_.report_exit(order.id, 143);
  const Json array = world_.describe(id);
  EXPECT_EQ(array["status"], "FAILED");
  EXPECT_EQ(array["statusReason"], "enough");
  EXPECT_EQ(array["isTerminated"], true);
  EXPECT_EQ(array["arrayProperties"]["statusSummary"]["FAILED"], 6);
  EXPECT_EQ(world_.describe(id + ":0")["statusReason"], "enough");
  EXPECT_EQ(world_.post("terminatejob", {{"jobId", id + ":4"}, {"reason", "late"}}).status, 200);
}

}  // namespace
}  // namespace teson::batch
