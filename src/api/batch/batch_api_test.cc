#include "api/batch/batch_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/batch/batch_fixture_testing.h"
#include "api/batch/submit.h"
#include "wire/uri.h"

namespace teson::batch {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST_F(Batch, AJobGoesFromSubmitToSucceeded) {
  const std::string id = world_.submit({{"tags", {{"team", "a"}}}});
  const LaunchOrder order = world_.launcher.orders(1).back();
  EXPECT_EQ(order.id.job.text(), id);
  EXPECT_EQ(order.command, std::vector<std::string>{"true"});
  Json job = world_.describe(id);
  EXPECT_EQ(job["status"], "STARTING");
  EXPECT_FALSE(job.contains("startedAt"));
  EXPECT_FALSE(job["container"].contains("logStreamName"));

  world_.report_started(order.id);
  job = world_.describe(id);
  EXPECT_EQ(job["status"], "RUNNING");
  EXPECT_EQ(job["container"]["logStreamName"], order.log_stream);
  EXPECT_EQ(job["attempts"], Json::array());
  EXPECT_GT(job["startedAt"], job["createdAt"]);

  world_.report_exit(order.id, 0);
  job = world_.describe(id);
  EXPECT_EQ(job["status"], "SUCCEEDED");
  EXPECT_EQ(job["statusReason"], "Essential container in task exited");
  EXPECT_EQ(job["jobArn"], "arn:aws:batch:us-east-1:123456789012:job/" + id);
  EXPECT_EQ(job["jobQueue"], "arn:aws:batch:us-east-1:123456789012:job-queue/main");
  EXPECT_EQ(job["jobDefinition"], "arn:aws:batch:us-east-1:123456789012:job-definition/train:1");
  EXPECT_EQ(job["container"]["exitCode"], 0);
  EXPECT_EQ(job["container"]["vcpus"], 1);
  EXPECT_EQ(job["container"]["memory"], 512);
  EXPECT_EQ(job["tags"]["team"], "a");
  ASSERT_EQ(job["attempts"].size(), 1u);
  EXPECT_EQ(job["attempts"][0]["container"]["exitCode"], 0);
  EXPECT_EQ(job["attempts"][0]["container"]["logStreamName"], order.log_stream);
  EXPECT_THAT(job["attempts"][0]["container"]["taskArn"].get<std::string>(),
              StartsWith("arn:aws:ecs:us-east-1:123456789012:task/here/"));
  EXPECT_EQ(job["attempts"][0]["startedAt"], job["startedAt"]);
  EXPECT_EQ(job["attempts"][0]["stoppedAt"], job["stoppedAt"]);
  EXPECT_EQ(job["isTerminated"], false);
}

TEST_F(Batch, ARetriedJobKeepsItsAttempts) {
  const std::string id = world_.submit({{"retryStrategy", {{"attempts", 2}}}});
  LaunchOrder order = world_.launcher.orders(1).back();
  world_.report_started(order.id);
  world_.report_exit(order.id, 3);
  order = world_.launcher.orders(2).back();
  EXPECT_EQ(order.id.number, 2);
  world_.report_started(order.id);
  world_.report_exit(order.id, 0);
  const Json job = world_.describe(id);
  EXPECT_EQ(job["status"], "SUCCEEDED");
  EXPECT_EQ(job["container"]["exitCode"], 0);
  ASSERT_EQ(job["attempts"].size(), 2u);
  EXPECT_EQ(job["attempts"][0]["container"]["exitCode"], 3);
  EXPECT_EQ(job["attempts"][1]["container"]["exitCode"], 0);
  EXPECT_EQ(job["retryStrategy"]["attempts"], 2);
}

TEST_F(Batch, DependenciesLiveFinishedFailedAndUnknown) {
  const std::string good = world_.submit();
  const std::string waiting = world_.submit({{"dependsOn", Json::array({{{"jobId", good}}})}});
  EXPECT_EQ(world_.describe(waiting)["status"], "PENDING");
  EXPECT_THAT(world_.describe(waiting)["statusReason"].get<std::string>(), HasSubstr(good));
  const LaunchOrder order = world_.launcher.orders(1).back();
  world_.report_started(order.id);
  world_.report_exit(order.id, 0);
  const LaunchOrder next = world_.launcher.orders(2).back();
  EXPECT_EQ(next.id.job.text(), waiting);

  // `good` is in the archive by now.
  const std::string late = world_.submit({{"dependsOn", Json::array({{{"jobId", good}}})}});
  EXPECT_EQ(world_.launcher.orders(3).back().id.job.text(), late);
  EXPECT_EQ(world_.describe(late)["dependsOn"][0]["jobId"], good);

  world_.report_started(next.id);
  world_.report_exit(next.id, 1);
  const Json failed = world_.describe(world_.submit({{"dependsOn", Json::array({{{"jobId", waiting}}})}}));
  EXPECT_EQ(failed["status"], "FAILED");
  EXPECT_THAT(failed["statusReason"].get<std::string>(), HasSubstr(waiting));

  const std::string nobody = random_job_id().text();
  expect_refused(world_.post("submitjob", {{"jobName", "j"},
                                           {"jobQueue", "main"},
                                           {"jobDefinition", "train"},
                                           {"dependsOn", Json::array({{{"jobId", nobody}}})}}),
                 "job " + nobody + " does not exist");
}

TEST_F(Batch, SubmitRefusesWhatDoesNotExist) {
  Json body = {{"jobName", "j"}, {"jobQueue", "main"}, {"jobDefinition", "train"}};
  body["jobQueue"] = "other";
  expect_refused(world_.post("submitjob", body), "'other' does not exist");
  body["jobQueue"] = "main";
  body["jobDefinition"] = "train:2";
  expect_refused(world_.post("submitjob", body), "Job definition 'train:2' does not exist");
  body["jobDefinition"] = "nothing";
  expect_refused(world_.post("submitjob", body), "'nothing' does not exist or has no active revision");
  EXPECT_EQ(world_.post("deregisterjobdefinition", {{"jobDefinition", "train:1"}}).status, 200);
  body["jobDefinition"] = "train:1";
  expect_refused(world_.post("submitjob", body), "'train:1' is INACTIVE");
  body["jobDefinition"] = "train";
  expect_refused(world_.post("submitjob", body), "no active revision");
}

TEST_F(Batch, SubmitTakes30KiBAndNoMore) {
  const auto body_of = [](size_t bytes) {
    Json body = {{"jobName", "j"},
                 {"jobQueue", "main"},
                 {"jobDefinition", "train"},
                 {"containerOverrides", {{"command", {""}}}}};
    const size_t without = body.dump().size();
    body["containerOverrides"]["command"][0] = std::string(bytes - without, 'x');
    return body.dump();
  };
  EXPECT_EQ(world_.post_text("submitjob", body_of(30 * 1024)).status, 200);
  expect_refused(world_.post_text("submitjob", body_of(30 * 1024 + 1)), "30721 bytes");
}

TEST_F(Batch, WhileNothingCanBeWrittenClientsAreToldToTryAgain) {
  world_.journal.refuse(true);
  expect_refused(world_.post("submitjob", {{"jobName", "j"}, {"jobQueue", "main"}, {"jobDefinition", "train"}}), "",
                 503);
}

TEST_F(Batch, MalformedAndUnknownRequests) {
  for (const char* text : {"{", "[]", "\"x\"", "{\"jobName\": \"\xff\"}", "{} x"}) {
    expect_refused(world_.post_text("submitjob", text), "");
  }
  expect_refused(world_.post("createserviceenvironment", Json::object()),
                 "CreateServiceEnvironment is not supported by this version of teson");
  EXPECT_EQ(world_.post("launchrocket", Json::object()).status, 404);
}

TEST_F(Batch, DescribeJobsLeavesUnknownOnesOut) {
  const std::string id = world_.submit();
  const std::string nobody = random_job_id().text();
  const Json asked = {nobody, "no-id", id, "arn:aws:batch:us-east-1:123456789012:job/" + id};
  const Answer answer = world_.post("describejobs", {{"jobs", asked}});
  ASSERT_EQ(answer.body["jobs"].size(), 1u);
  EXPECT_EQ(answer.body["jobs"][0]["jobId"], id);
  expect_refused(world_.post("describejobs", {{"jobs", Json(101, id)}}), "'jobs'");
  expect_refused(world_.post("describejobs", Json::object()), "'jobs'");
}

TEST_F(Batch, ListJobsPagesThroughLiveAndFinishedOnes) {
  std::vector<std::string> ids;
  for (int i = 0; i < 7; ++i) ids.push_back(world_.submit({{"jobName", "n" + std::to_string(i)}}));
  // Four run at a time; the first two finish, so the next two start.
  auto orders = world_.launcher.orders(4);
  for (int i = 0; i < 2; ++i) {
    world_.report_started(orders[i].id);
    world_.report_exit(orders[i].id, 0);
  }
  world_.launcher.orders(6);

  Json request = {
      {"jobQueue", "main"}, {"maxResults", 3}, {"filters", Json::array({{{"name", "JOB_NAME"}, {"values", {"N*"}}}})}};
  std::vector<std::string> seen;
  for (int page = 0;; ++page) {
    const Answer answer = world_.post("listjobs", request);
    ASSERT_EQ(answer.status, 200) << answer.body.dump();
    for (const Json& job : answer.body["jobSummaryList"]) seen.push_back(job["jobId"]);
    if (page == 0) world_.submit({{"jobName", "new"}});  // must not shift the pages
    if (!answer.body.contains("nextToken")) break;
    request["nextToken"] = answer.body["nextToken"];
  }
  EXPECT_EQ(seen, std::vector<std::string>(ids.rbegin(), ids.rend()));

  const Answer succeeded = world_.post("listjobs", {{"jobQueue", "main"}, {"jobStatus", "SUCCEEDED"}});
  ASSERT_EQ(succeeded.body["jobSummaryList"].size(), 2u);
  EXPECT_EQ(succeeded.body["jobSummaryList"][0]["jobId"], ids[1]);
  EXPECT_EQ(succeeded.body["jobSummaryList"][0]["container"]["exitCode"], 0);
  EXPECT_EQ(world_.post("listjobs", {{"jobQueue", "main"}}).body["jobSummaryList"].size(), 0u);
  EXPECT_EQ(world_.post("listjobs", {{"jobQueue", "main"}, {"jobStatus", "STARTING"}}).body["jobSummaryList"].size(),
            4u);
  expect_refused(world_.post("listjobs", {{"jobQueue", "none"}}), "'none' does not exist");
}

TEST_F(Batch, CancelAndTerminate) {
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(world_.submit());
  const LaunchOrder first = world_.launcher.orders(4).front();
  const auto stop = [&](const char* operation, const std::string& id) {
    return world_.post(operation, {{"jobId", id}, {"reason", "not needed"}});
  };
  EXPECT_EQ(stop("canceljob", ids[4]).status, 200);
  const Json cancelled = world_.describe(ids[4]);
  EXPECT_EQ(cancelled["status"], "FAILED");
  EXPECT_EQ(cancelled["statusReason"], "not needed");
  EXPECT_EQ(cancelled["isCancelled"], true);
  EXPECT_EQ(cancelled["attempts"], Json::array());

  EXPECT_EQ(stop("canceljob", ids[0]).status, 200);  // has started: left alone
  EXPECT_EQ(world_.describe(ids[0])["status"], "STARTING");
  EXPECT_EQ(world_.describe(ids[0])["isCancelled"], false);
  EXPECT_EQ(stop("terminatejob", ids[0]).status, 200);
  world_.report_exit(first.id, 143);
  const Json terminated = world_.describe(ids[0]);
  EXPECT_EQ(terminated["status"], "FAILED");
  EXPECT_EQ(terminated["statusReason"], "not needed");
  EXPECT_EQ(terminated["isTerminated"], true);
  EXPECT_EQ(stop("terminatejob", ids[0]).status, 200);  // finished: nothing happens

  expect_refused(stop("terminatejob", random_job_id().text()), "does not exist");
  expect_refused(stop("canceljob", "x"), "Job \"x\" does not exist");
  expect_refused(world_.post("canceljob", {{"jobId", ids[1]}}), "'reason'");
  expect_refused(world_.post("canceljob", {{"reason", "r"}}), "'jobId'");
  const auto with_reason = [&](size_t size) {
    return world_.post("terminatejob", {{"jobId", ids[4]}, {"reason", std::string(size, 'r')}});
  };
  EXPECT_EQ(with_reason(1024).status, 200);
  expect_refused(with_reason(1025), "'reason'");
}

TEST_F(Batch, TagsOnAllFourKinds) {
  const std::string job = "arn:aws:batch:us-east-1:123456789012:job/" + world_.submit();
  const std::string root = "arn:aws:batch:us-east-1:123456789012:";
  for (const std::string& arn :
       {job, root + "job-queue/main", root + "compute-environment/here", root + "job-definition/train:1"}) {
    EXPECT_EQ(tags("POST", arn, "", {{"tags", {{"a", "1"}, {"b", "2"}}}}).status, 200) << arn;
    EXPECT_EQ(tags("POST", arn, "", {{"tags", {{"b", "3"}}}}).status, 200);
    EXPECT_EQ(tags("GET", arn).body["tags"], Json::parse(R"({"a": "1", "b": "3"})"));
    EXPECT_EQ(tags("DELETE", arn, "tagKeys=a&tagKeys=zz").status, 200);
    EXPECT_EQ(tags("GET", arn).body["tags"], Json::parse(R"({"b": "3"})"));
    expect_refused(tags("POST", arn, "", Json::object()), "'tags'");
    expect_refused(tags("DELETE", arn), "tagKeys");
  }
  Json many = Json::object();
  for (int i = 0; i < 50; ++i) many["k" + std::to_string(i)] = "";
  expect_refused(tags("POST", job, "", {{"tags", many}}), "at most 50");
  expect_refused(tags("POST", job, "", {{"tags", {{"teson:interruptions", "x"}}}}), "free or counted");
  expect_refused(tags("GET", root + "job-queue/none"), "does not exist");
  expect_refused(tags("GET", root + "job/" + random_job_id().text()), "does not exist");
  expect_refused(tags("POST", root + "job-queue/none", "", {{"tags", {{"a", "b"}}}}), "does not exist");

  const LaunchOrder order = world_.launcher.orders(1).back();
  world_.report_started(order.id);
  world_.report_exit(order.id, 0);
  EXPECT_EQ(tags("GET", job).body["tags"], Json::parse(R"({"b": "3"})"));
  expect_refused(tags("POST", job, "", {{"tags", {{"a", "b"}}}}), "has finished");
}

TEST_F(Batch, DefinitionsByRevisionNameAndPage) {
  const Json needs = Json::parse(R"([{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "4"}])");
  const Json container = {{"image", "host"}, {"command", {"a"}}, {"resourceRequirements", needs}};
  for (int revision = 2; revision <= 4; ++revision) {
    const Answer answer =
        world_.post("registerjobdefinition",
                    {{"jobDefinitionName", "train"}, {"type", "container"}, {"containerProperties", container}});
    EXPECT_EQ(answer.body["revision"], revision);
  }
  EXPECT_EQ(world_.post("deregisterjobdefinition", {{"jobDefinition", "train:3"}}).status, 200);
  expect_refused(world_.post("deregisterjobdefinition", {{"jobDefinition", "train"}}), "no revision");
  expect_refused(world_.post("deregisterjobdefinition", {{"jobDefinition", "train:9"}}), "does not exist");

  const auto revisions = [&](const Json& request) {
    const Answer answer = world_.post("describejobdefinitions", request);
    std::vector<int> out;
    for (const Json& one : answer.body.at("jobDefinitions")) out.push_back(one.at("revision").get<int>());
    return out;
  };
  EXPECT_THAT(revisions(Json::object()), testing::ElementsAre(4, 3, 2, 1));
  EXPECT_THAT(revisions({{"status", "ACTIVE"}}), testing::ElementsAre(4, 2, 1));
  EXPECT_THAT(revisions({{"status", "INACTIVE"}, {"jobDefinitionName", "train"}}), testing::ElementsAre(3));
  EXPECT_THAT(revisions({{"jobDefinitions", {"train:1", "train:7"}}}), testing::ElementsAre(1));
  EXPECT_THAT(revisions({{"jobDefinitionName", "other"}}), testing::ElementsAre());
  Answer page = world_.post("describejobdefinitions", {{"maxResults", 2}});
  EXPECT_EQ(page.body["jobDefinitions"][1]["revision"], 3);
  EXPECT_THAT(revisions({{"maxResults", 2}, {"nextToken", page.body["nextToken"]}}), testing::ElementsAre(2, 1));
}

TEST_F(Batch, EnvironmentsAndQueuesLiveAndDie) {
  const auto environments = [&](Json request) {
    return world_.post("describecomputeenvironments", request).body["computeEnvironments"];
  };
  ASSERT_EQ(environments({{"computeEnvironments", {"here", "none"}}}).size(), 1u);
  EXPECT_EQ(environments(Json::object())[0]["computeResources"]["maxvCpus"], 4);
  const Json resources = {{"type", "SPOT"}, {"maxvCpus", 2}, {"instanceTypes", {"m5"}}, {"subnets", {"s"}}};
  const Json create = {{"computeEnvironmentName", "spot"}, {"type", "MANAGED"}, {"computeResources", resources}};
  EXPECT_EQ(world_.post("createcomputeenvironment", create).body["computeEnvironmentArn"],
            "arn:aws:batch:us-east-1:123456789012:compute-environment/spot");
  expect_refused(world_.post("createcomputeenvironment", create), "already exists");
  const Answer page = world_.post("describecomputeenvironments", {{"maxResults", 1}});
  EXPECT_EQ(page.body["computeEnvironments"][0]["computeEnvironmentName"], "here");
  EXPECT_EQ(environments({{"nextToken", page.body["nextToken"]}})[0]["computeEnvironmentName"], "spot");

  expect_refused(world_.post("deletecomputeenvironment", {{"computeEnvironment", "here"}}), "DISABLED first");
  EXPECT_EQ(world_.post("updatecomputeenvironment", {{"computeEnvironment", "here"}, {"state", "DISABLED"}}).status,
            200);
  EXPECT_EQ(environments({{"computeEnvironments", {"here"}}})[0]["state"], "DISABLED");
  expect_refused(world_.post("deletecomputeenvironment", {{"computeEnvironment", "here"}}), "queue 'main'");
  expect_refused(world_.post("deletejobqueue", {{"jobQueue", "main"}}), "DISABLED first");
  EXPECT_EQ(world_.post("updatejobqueue", {{"jobQueue", "main"}, {"state", "DISABLED"}}).status, 200);
  expect_refused(world_.post("submitjob", {{"jobName", "j"}, {"jobQueue", "main"}, {"jobDefinition", "train"}}),
                 "DISABLED");
  EXPECT_EQ(world_.post("deletejobqueue", {{"jobQueue", "main"}}).status, 200);
  EXPECT_EQ(world_.post("describejobqueues", Json::object()).body["jobQueues"].size(), 0u);
  EXPECT_EQ(world_.post("deletecomputeenvironment", {{"computeEnvironment", "here"}}).status, 200);
  EXPECT_EQ(environments(Json::object()).size(), 1u);
  expect_refused(world_.post("updatecomputeenvironment", {{"computeEnvironment", "here"}, {"state", "ENABLED"}}),
                 "does not exist");
}

}  // namespace
}  // namespace teson::batch
