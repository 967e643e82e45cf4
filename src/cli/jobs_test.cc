#include "cli/jobs.h"

#include <gtest/gtest.h>

#include "cli/http_stand_in_testing.h"

namespace teson::cli {
namespace {

const std::string kA = "1f3c0000-0000-4000-8000-000000000001";
const std::string kB = "22aa44bb-0000-4000-8000-000000000002";

TEST(JobView, ReadsAFinishedJobOfTwoAttempts) {
  const JobView job = job_view(Json::parse(R"({
    "jobId": "1f3c0000-0000-4000-8000-000000000001", "jobName": "digits", "status": "SUCCEEDED",
    "jobQueue": "arn:aws:batch:us-east-1:123456789012:job-queue/spot",
    "jobDefinition": "arn:aws:batch:us-east-1:123456789012:job-definition/teson-run:3",
    "createdAt": 1000, "startedAt": 5000, "stoppedAt": 9000, "statusReason": "Essential container in task exited",
    "container": {"image": "host", "command": ["python3", "train.py"], "exitCode": 0, "logStreamName": "s/2"},
    "attempts": [
      {"startedAt": 2000, "stoppedAt": 4000, "statusReason": "Host EC2 (instance i-1) terminated.",
       "container": {"logStreamName": "s/1", "reason": "agent is gone"}},
      {"startedAt": 5000, "stoppedAt": 9000, "statusReason": "Essential container in task exited",
       "container": {"exitCode": 0, "logStreamName": "s/2"}}]})"));
  EXPECT_EQ(job.queue, "spot");
  EXPECT_EQ(job.definition, "teson-run:3");
  EXPECT_EQ(job.command, (std::vector<std::string>{"python3", "train.py"}));
  EXPECT_EQ(run_time(job, Instant{}), Duration::seconds(4));
  EXPECT_EQ(job_label(job), "digits (1f3c0000)");
  EXPECT_EQ(exit_code_of(job), 0);
  ASSERT_EQ(job.attempts.size(), 2u);
  EXPECT_EQ(job.attempts[0].number, 1);
  EXPECT_EQ(job.attempts[0].cause, "Host EC2 (instance i-1) terminated.");
  EXPECT_EQ(job.attempts[0].reason, "agent is gone");
  EXPECT_FALSE(job.attempts[0].exit_code);
  EXPECT_EQ(job.attempts[1].exit_code, 0);
  EXPECT_FALSE(job.attempts[1].live);
}

TEST(JobView, AddsTheLiveAttemptWhetherListedOrNot) {
  const auto view = [](const char* status, const char* attempts) {
    Json detail = Json::object({{"status", status}, {"startedAt", 7000}, {"attempts", Json::parse(attempts)}});
    detail["container"] = Json::object({{"logStreamName", "s/2"}});
    return job_view(detail);
  };
  const char* one_ended = R"([{"stoppedAt": 3000, "container": {"logStreamName": "s/1"}}])";
  const JobView unlisted = view("RUNNING", one_ended);
  ASSERT_EQ(unlisted.attempts.size(), 2u);
  EXPECT_TRUE(unlisted.attempts[1].live);
  EXPECT_EQ(unlisted.attempts[1].log_stream, "s/2");
  EXPECT_EQ(unlisted.attempts[1].started, Instant::from_millis(7000));
  const char* listed_live = R"([{"stoppedAt": 3000, "container": {"logStreamName": "s/1"}},
                                {"startedAt": 7000, "container": {"logStreamName": "s/2"}}])";
  const JobView listed = view("RUNNING", listed_live);
  ASSERT_EQ(listed.attempts.size(), 2u);
  EXPECT_TRUE(listed.attempts[1].live);
  EXPECT_EQ(view("RUNNABLE", one_ended).attempts.size(), 1u);
}

TEST(JobView, OfNonsenseIsEmpty) {
  const JobView job = job_view(Json::parse(R"({"jobId": 5, "attempts": {"a": 1}, "container": [], "status": null})"));
  EXPECT_EQ(job.id, "");
  EXPECT_TRUE(job.attempts.empty());
  EXPECT_EQ(exit_code_of(job), 1);
}

TEST(ExitCodeOf, PassesTheProgramsOwnThrough) {
  JobView job;
  job.status = "FAILED";
  EXPECT_EQ(exit_code_of(job), 1);  // it never ran
  job.exit_code = 0;
  EXPECT_EQ(exit_code_of(job), 1);  // stopped, and it left in good order
  job.exit_code = 3;
  EXPECT_EQ(exit_code_of(job), 3);
  job.exit_code = 143;
  EXPECT_EQ(exit_code_of(job), 143);
  job.exit_code = 256;
  EXPECT_EQ(exit_code_of(job), 1);
  job.status = "SUCCEEDED";
  EXPECT_EQ(exit_code_of(job), 0);
}

TEST(WhyFailed, LeavesOutWhatExplainsNothing) {
  const auto why = [](const char* status_reason, const char* reason, std::optional<int64_t> code) {
    JobView job;
    job.status_reason = status_reason;
    job.reason = reason;
    job.exit_code = code;
    return why_failed(job);
  };
  EXPECT_EQ(why("Essential container in task exited", "", 3), "exit code 3");
  EXPECT_EQ(why("Essential container in task exited", "OutOfMemoryError: 64 MiB", 137),
            "exit code 137: OutOfMemoryError: 64 MiB");
  EXPECT_EQ(why("Task failed to start", "no such file", std::nullopt), "Task failed to start: no such file");
  EXPECT_EQ(why("Stopped by its user", "", std::nullopt), "Stopped by its user");
  EXPECT_EQ(why("Essential container in task exited", "", std::nullopt), "Essential container in task exited");
}

// Two queues; ListJobs gives one job a page.
StandInAnswer two_queues(const StandInRequest& request) {
  const Json body = Json::parse(request.body);
  if (request.path == "/v1/describejobqueues") {
    if (text_field(body, "nextToken").empty()) {
      return {200, R"({"jobQueues": [{"jobQueueName": "default"}], "nextToken": "more"})", {}};
    }
    return {200, R"({"jobQueues": [{"jobQueueName": "spot"}]})", {}};
  }
  if (request.path == "/v1/listjobs" && text_field(body, "jobQueue") == "spot") {
    if (text_field(body, "nextToken").empty()) {
      return {200, R"({"jobSummaryList": [{"jobId": ")" + kA + R"("}], "nextToken": "p2"})", {}};
    }
    return {200, R"({"jobSummaryList": [{"jobId": ")" + kB + R"("}]})", {}};
  }
  return {200, R"({"jobSummaryList": [], "jobs": []})", {}};
}

Client client_for(HttpStandIn& server) {
  return Client(
      {.data = "/d", .endpoint = server.endpoint(), .by_data_directory = true, .keys = {"k", "s"}, .region = "r"});
}

TEST(ResolveJobIds, LooksAPrefixUpInAllQueuesAndPages) {
  HttpStandIn server(two_queues);
  Client client = client_for(server);
  EXPECT_EQ(resolve_job_ids(client, {"22", "1f3c"}).value(), (std::vector<std::string>{kB, kA}));
  EXPECT_EQ(resolve_job_ids(client, {"22:17", "1f3c:0"}).value(), (std::vector<std::string>{kB + ":17", kA + ":0"}));
  EXPECT_EQ(resolve_job_id(client, "9").error().kind, FailureKind::kUsage);
}

TEST(ResolveJobIds, AWholeIdNeedsNoLookAndAWordIsRefused) {
  HttpStandIn server(two_queues);
  Client client = client_for(server);
  EXPECT_EQ(resolve_job_id(client, "1F3C0000-0000-4000-8000-000000000001").value(), kA);
  EXPECT_EQ(resolve_job_id(client, "digits").error().message,
            "'digits' is not a job id; give it, or its first characters, as 'teson jobs' shows it");
  EXPECT_TRUE(server.requests().empty());
}

TEST(ListJobs, StopsAtItsLimitAndAsksForNoMore) {
  HttpStandIn server(two_queues);
  Client client = client_for(server);
  EXPECT_EQ(list_jobs(client, "spot", "FAILED", 1)->size(), 1u);
  ASSERT_EQ(server.requests().size(), 1u);
  EXPECT_EQ(server.requests()[0].body, R"({"jobQueue":"spot","maxResults":1,"jobStatus":"FAILED"})");
  EXPECT_EQ(list_jobs(client, "spot", std::nullopt, SIZE_MAX)->size(), 2u);
  EXPECT_EQ(server.requests()[1].body,
            R"({"jobQueue":"spot","maxResults":100,"filters":[{"name":"AFTER_CREATED_AT","values":["0"]}]})");
}

TEST(DescribeJob, UnknownOneIsAUsageFailure) {
  HttpStandIn server(two_queues);
  Client client = client_for(server);
  EXPECT_EQ(describe_job(client, kA).error().message, "there is no job " + kA + "; 'teson jobs --all' lists them");
}

}  // namespace
}  // namespace teson::cli
