// Scheduling policies, shares and the front of a queue over the wire.
#include "api/batch/batch_fixture_testing.h"
#include "api/batch/submit.h"

namespace teson::batch {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST_F(Batch, ASchedulingPolicyIsMadeDescribedChangedAndDeleted) {
  const Json fair = {
      {"shareDecaySeconds", 3600},
      {"computeReservation", 10},
      {"shareDistribution", {{{"shareIdentifier", "A1*"}, {"weightFactor", 0.1}}, {{"shareIdentifier", "B"}}}}};
  const Json made =
      world_.post("createschedulingpolicy", {{"name", "fair"}, {"fairsharePolicy", fair}, {"tags", {{"team", "x"}}}})
          .body;
  const std::string arn = "arn:aws:batch:us-east-1:123456789012:scheduling-policy/fair";
  EXPECT_EQ(made, Json({{"name", "fair"}, {"arn", arn}}));
  expect_refused(world_.post("createschedulingpolicy", {{"name", "fair"}}), "already exists");
  Json described = world_.post("describeschedulingpolicies", {{"arns", {arn}}}).body["schedulingPolicies"];
  ASSERT_EQ(described.size(), 1u);
  EXPECT_EQ(
      described[0]["fairsharePolicy"]["shareDistribution"],
      Json({{{"shareIdentifier", "A1*"}, {"weightFactor", 0.1}}, {{"shareIdentifier", "B"}, {"weightFactor", 1.0}}}));
  EXPECT_EQ(described[0]["tags"]["team"], "x");
  EXPECT_EQ(tags("POST", arn, "", {{"tags", {{"team", "y"}}}}).status, 200);
  EXPECT_EQ(tags("GET", arn).body["tags"]["team"], "y");

  EXPECT_EQ(
      world_.post("updateschedulingpolicy", {{"arn", arn}, {"fairsharePolicy", {{"computeReservation", 99}}}}).status,
      200);
  described = world_.post("describeschedulingpolicies", {{"arns", {arn}}}).body["schedulingPolicies"];
  EXPECT_EQ(described[0]["fairsharePolicy"],
            Json({{"shareDecaySeconds", 0}, {"computeReservation", 99}, {"shareDistribution", Json::array()}}));
  for (const char* name : {"a", "b"}) world_.post("createschedulingpolicy", {{"name", name}});
  const Json page = world_.post("listschedulingpolicies", {{"maxResults", 2}}).body;
  EXPECT_EQ(page["schedulingPolicies"].size(), 2u);
  EXPECT_EQ(world_.post("listschedulingpolicies", {{"nextToken", page["nextToken"]}}).body["schedulingPolicies"],
            Json({{{"arn", arn}}}));

  EXPECT_EQ(world_
                .post("createjobqueue", {{"jobQueueName", "shared"},
                                         {"priority", 1},
                                         {"schedulingPolicyArn", arn},
                                         {"computeEnvironmentOrder", {{{"order", 1}, {"computeEnvironment", "here"}}}}})
                .status,
            200);
  EXPECT_EQ(world_.post("describejobqueues", {{"jobQueues", {"shared"}}}).body["jobQueues"][0]["schedulingPolicyArn"],
            arn);
  expect_refused(world_.post("deleteschedulingpolicy", {{"arn", arn}}), "queue 'shared' uses scheduling policy 'fair'");
  expect_refused(world_.post("updatejobqueue", {{"jobQueue", "main"}, {"schedulingPolicyArn", arn}}),
                 "none may come or go");
  EXPECT_EQ(world_.post("deleteschedulingpolicy", {{"arn", "a"}}).status, 200);
}

TEST_F(Batch, SchedulingPoliciesAreCheckedAtTheirEdges) {
  const auto refused = [&](const Json& fair, const std::string& said) {
    expect_refused(world_.post("createschedulingpolicy", {{"name", "p"}, {"fairsharePolicy", fair}}), said);
  };
  const auto shares = [](Json entries) { return Json({{"shareDistribution", std::move(entries)}}); };
  refused({{"shareDecaySeconds", 604'801}}, "'fairsharePolicy.shareDecaySeconds'");
  refused({{"computeReservation", 100}}, "'fairsharePolicy.computeReservation'");
  refused(shares({{{"shareIdentifier", "a-b"}}}), "letters and digits");
  refused(shares({{{"shareIdentifier", ""}}}), "shareIdentifier");
  refused(shares({{{"shareIdentifier", "a"}, {"weightFactor", 0}}}), "from 0.0001 to 999.9999");
  refused(shares({{{"shareIdentifier", "a"}, {"weightFactor", 1000}}}), "from 0.0001 to 999.9999");
  refused(shares({{{"shareIdentifier", "team*"}}, {{"shareIdentifier", "team1"}}}), "in common");
  Json many = Json::array();
  for (int i = 0; i < 501; ++i) many.push_back({{"shareIdentifier", "s" + std::to_string(i)}});
  refused(shares(many), "500");
  expect_refused(world_.post("createschedulingpolicy", {{"name", "p"}, {"quotaSharePolicy", {{"a", 1}}}}),
                 "quota shares");
  EXPECT_EQ(world_
                .post("createschedulingpolicy",
                      {{"name", "p"},
                       {"fairsharePolicy", shares({{{"shareIdentifier", "a"}, {"weightFactor", 0.0001}},
                                                   {{"shareIdentifier", "b*"}, {"weightFactor", 999.9999}}})}})
                .status,
            200);
}

TEST_F(Batch, AFairShareQueueWantsAShareIdentifierAndOthersNone) {
  world_.post("createschedulingpolicy", {{"name", "fair"}});
  world_.post("createjobqueue", {{"jobQueueName", "shared"},
                                 {"priority", 1},
                                 {"schedulingPolicyArn", "fair"},
                                 {"computeEnvironmentOrder", {{{"order", 1}, {"computeEnvironment", "here"}}}}});
  Json body = {{"jobName", "j"}, {"jobQueue", "shared"}, {"jobDefinition", "train"}};
  expect_refused(world_.post("submitjob", body), "'shareIdentifier' is missing: job queue 'shared' has");
  body["shareIdentifier"] = "a*";
  expect_refused(world_.post("submitjob", body), "letters and digits");
  body["shareIdentifier"] = "a";
  body["schedulingPriorityOverride"] = 5;
  const std::string id = world_.post("submitjob", body).body["jobId"];
  EXPECT_EQ(world_.describe(id)["shareIdentifier"], "a");
  EXPECT_EQ(world_.describe(id)["schedulingPriority"], 5);
  const auto listed = [&](const char* share, Json more) {
    more["jobQueue"] = "shared";
    more["filters"] = {{{"name", "SHARE_IDENTIFIER"}, {"values", {share}}}};
    return world_.post("listjobs", more).body["jobSummaryList"].size();
  };
  EXPECT_EQ(listed("a", Json::object()), 1u);
  EXPECT_EQ(listed("b", Json::object()), 0u);
  EXPECT_EQ(listed("a", {{"jobStatus", "SUCCEEDED"}}), 0u);
  body["jobQueue"] = "main";
  expect_refused(world_.post("submitjob", body), "'shareIdentifier' must not be given");
  world_.report_exit(world_.launcher.orders(1)[0].id, 0);
  EXPECT_EQ(listed("a", {{"jobStatus", "SUCCEEDED"}}), 1u);
}

TEST_F(Batch, TheSnapshotOfAQueueShowsItsFront) {
  std::vector<std::string> ids;
  for (int i = 0; i < 6; ++i) ids.push_back(world_.submit());
  world_.launcher.orders(4);
  const Json front = world_.post("getjobqueuesnapshot", {{"jobQueue", "main"}}).body["frontOfQueue"];
  ASSERT_EQ(front["jobs"].size(), 2u);
  EXPECT_EQ(front["jobs"][0]["jobArn"], "arn:aws:batch:us-east-1:123456789012:job/" + ids[4]);
  EXPECT_EQ(front["jobs"][1]["earliestTimeAtPosition"], world_.describe(ids[5])["createdAt"]);
  EXPECT_GT(front["lastUpdatedAt"], front["jobs"][0]["earliestTimeAtPosition"]);
  expect_refused(world_.post("getjobqueuesnapshot", {{"jobQueue", "nowhere"}}), "does not exist");
}

}  // namespace
}  // namespace teson::batch
