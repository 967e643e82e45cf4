#include "cli/rerun_request.h"

#include <gtest/gtest.h>

namespace teson::cli {
namespace {

const char* kArray = R"({
  "jobId": "1f3c0000-0000-4000-8000-000000000001", "jobName": "sweep", "status": "FAILED",
  "jobQueue": "arn:aws:batch:us-east-1:123456789012:job-queue/spot",
  "jobDefinition": "arn:aws:batch:us-east-1:123456789012:job-definition/teson-run:3",
  "arrayProperties": {"size": 1000, "statusSummary": {"SUCCEEDED": 993, "FAILED": 7}},
  "schedulingPriority": 0, "propagateTags": false, "parameters": {}, "platformCapabilities": [],
  "dependsOn": [{"jobId": "22aa44bb-0000-4000-8000-000000000002", "type": "N_TO_N"}],
  "retryStrategy": {"attempts": 2, "evaluateOnExit": [{"onExitCode": "2", "action": "EXIT"}]},
  "timeout": {"attemptDurationSeconds": 90},
  "tags": {"team": "a", "teson:array-throttle": "8", "teson:rerun-of": "33333333-0000-4000-8000-000000000003",
           "teson:owner": "ana"},
  "container": {"image": "host", "command": ["python3", "sweep.py"], "environment": [{"name": "LR", "value": "0.1"}],
                "resourceRequirements": [{"type": "VCPU", "value": "1"}], "exitCode": 3}})";

TEST(RerunRequest, IsTheSameAgainWithTheTag) {
  EXPECT_EQ(rerun_request(Json::parse(kArray)).value(), Json::parse(R"({
    "jobName": "sweep",
    "jobQueue": "arn:aws:batch:us-east-1:123456789012:job-queue/spot",
    "jobDefinition": "arn:aws:batch:us-east-1:123456789012:job-definition/teson-run:3",
    "arrayProperties": {"size": 1000},
    "containerOverrides": {
      "command": ["python3", "sweep.py"], "environment": [{"name": "LR", "value": "0.1"}],
      "resourceRequirements": [{"type": "VCPU", "value": "1"}]},
    "retryStrategy": {"attempts": 2, "evaluateOnExit": [{"onExitCode": "2", "action": "EXIT"}]},
    "timeout": {"attemptDurationSeconds": 90},
    "tags": {"team": "a", "teson:array-throttle": "8", "teson:rerun-of": "1f3c0000-0000-4000-8000-000000000001"}})"));
}

TEST(RerunRequest, ASequentialArrayStaysOne) {
  Json array = Json::parse(kArray);
  array["dependsOn"].push_back(Json::object({{"type", "SEQUENTIAL"}}));
  array["schedulingPriority"] = 7;
  array["parameters"]["who"] = "world";
  array["propagateTags"] = true;
  const Json request = rerun_request(array).value();
  EXPECT_EQ(request["dependsOn"], Json::parse(R"([{"type": "SEQUENTIAL"}])"));
  EXPECT_EQ(request["schedulingPriorityOverride"], 7);
  EXPECT_EQ(request["parameters"], Json::parse(R"({"who": "world"})"));
  EXPECT_EQ(request["propagateTags"], true);
}

TEST(RerunRequest, OfASingleJobOrAChildIsRefused) {
  Json single = Json::parse(kArray);
  single.erase("arrayProperties");
  EXPECT_EQ(rerun_request(single).error().message,
            "sweep (1f3c0000) is not an array, and rerun is for the failed children of one; 'teson run' runs it again");
  single["arrayProperties"] = Json::parse(R"({"size": 1000, "index": 3})");
  EXPECT_EQ(rerun_request(single).error().kind, FailureKind::kUsage);
}

}  // namespace
}  // namespace teson::cli
