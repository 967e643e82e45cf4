#include "cli/apply_diff.h"

#include <gtest/gtest.h>

namespace teson::cli {
namespace {

ManifestDocument document(ManifestKind kind, const std::string& request) {
  ManifestDocument out{kind, "n", Json::parse(request), "f.yaml", {3, 1}};
  return out;
}

std::vector<std::string> told(const std::vector<FieldChange>& changes) {
  std::vector<std::string> out;
  for (const FieldChange& change : changes) {
    out.push_back(change.field + ": " + json_line(change.from) + " -> " + json_line(change.to));
  }
  return out;
}

using Lines = std::vector<std::string>;

TEST(ApplyDiff, AQueueAsTheServerShowsItIsUnchanged) {
  const auto queue = document(ManifestKind::kQueue, R"({"jobQueueName": "n", "priority": 5, "state": "ENABLED",
      "computeEnvironmentOrder": [{"computeEnvironment": "b", "order": 2}, {"order": 1, "computeEnvironment": "a"}]})");
  const std::string arn = "arn:aws:batch:us-east-1:123456789012:compute-environment/";
  Json there = Json::object({{"jobQueueName", "n"},
                             {"jobQueueArn", "arn:aws:batch:us-east-1:123456789012:job-queue/n"},
                             {"status", "VALID"},
                             {"state", "ENABLED"},
                             {"priority", 5},
                             {"tags", Json::object()},
                             {"jobStateTimeLimitActions", Json::array()}});
  there["computeEnvironmentOrder"] = Json::array({Json::object({{"order", 1}, {"computeEnvironment", arn + "a"}}),
                                                  Json::object({{"order", 2}, {"computeEnvironment", arn + "b"}})});
  EXPECT_EQ(told(differences(queue, there)), Lines{});
  there["priority"] = 1;
  const auto changes = differences(queue, there);
  EXPECT_EQ(told(changes), Lines{"priority: 1 -> 5"});
  EXPECT_EQ(update_request(queue, changes, "").value(), Json::parse(R"({"priority": 5, "jobQueue": "n"})"));
}

TEST(ApplyDiff, OfAnEnvironmentOnlyWhatDiffersIsSent) {
  const auto wanted = document(ManifestKind::kEnvironment, R"({"computeEnvironmentName": "n", "type": "MANAGED",
      "computeResources": {"type": "EC2", "minvCpus": 0, "maxvCpus": 8, "desiredvCpus": 0}, "tags": {"a": "1"}})");
  const Json there = Json::parse(R"({"computeEnvironmentName": "n", "type": "MANAGED", "state": "ENABLED",
      "computeResources": {"type": "EC2", "minvCpus": 0, "maxvCpus": 4, "desiredvCpus": 4, "subnets": []},
      "tags": {"b": "2"}})");
  const auto changes = differences(wanted, there);
  EXPECT_EQ(told(changes), (Lines{"computeResources.maxvCpus: 4 -> 8", "tags.a: null -> \"1\""}));
  EXPECT_EQ(update_request(wanted, changes, "").value(),
            Json::parse(R"({"computeResources": {"maxvCpus": 8}, "computeEnvironment": "n"})"));
  EXPECT_EQ(changed_tags(wanted, changes), Json::parse(R"({"a": "1"})"));
  Json other = there;
  other["type"] = "UNMANAGED";
  EXPECT_EQ(update_request(wanted, differences(wanted, other), "").error().message,
            "f.yaml:3:1: ComputeEnvironment/n: 'type' is \"UNMANAGED\" and cannot be changed to \"MANAGED\": delete it "
            "first, or give this one another name");
}

TEST(ApplyDiff, ADefinitionIsComparedAsAWhole) {
  const auto wanted = document(ManifestKind::kDefinition, R"({"jobDefinitionName": "n", "type": "container",
      "containerProperties": {"image": "host"},
      "retryStrategy": {"attempts": 2, "evaluateOnExit": [{"action": "retry", "onReason": "x"}]}})");
  Json there = Json::parse(R"({"jobDefinitionName": "n", "jobDefinitionArn": "arn:n:3", "revision": 3,
      "status": "ACTIVE", "containerOrchestrationType": "ECS", "type": "container", "parameters": {},
      "tags": {"teson:owner": "ana"}, "containerProperties": {"image": "host", "command": [], "ulimits": []},
      "retryStrategy": {"attempts": 2, "evaluateOnExit": [{"onReason": "x", "action": "RETRY"}]}})");
  EXPECT_EQ(told(differences(wanted, there)), Lines{});
  there["timeout"] = Json::parse(R"({"attemptDurationSeconds": 60})");
  there["containerProperties"]["user"] = "ana";
  EXPECT_EQ(told(differences(wanted, there)),
            (Lines{"containerProperties.user: \"ana\" -> null", "timeout: {\"attemptDurationSeconds\":60} -> null"}));
}

TEST(ApplyDiff, APolicysDefaultsAreNoDifference) {
  const auto wanted = document(ManifestKind::kPolicy, R"({"name": "n",
      "fairsharePolicy": {"shareDistribution": [{"shareIdentifier": "a"}]}})");
  Json there = Json::parse(R"({"name": "n", "arn": "arn:p", "tags": {}, "fairsharePolicy": {"shareDecaySeconds": 0,
      "computeReservation": 0, "shareDistribution": [{"shareIdentifier": "a", "weightFactor": 1.0}]}})");
  EXPECT_EQ(told(differences(wanted, there)), Lines{});
  // AWS replaces all of it.
  there["fairsharePolicy"]["shareDecaySeconds"] = 60;
  const auto changes = differences(wanted, there);
  EXPECT_EQ(told(changes), Lines{"fairsharePolicy.shareDecaySeconds: 60 -> null"});
  EXPECT_EQ(update_request(wanted, changes, "arn:p").value(),
            Json::parse(R"({"fairsharePolicy": {"shareDistribution": [{"shareIdentifier": "a"}]}, "arn": "arn:p"})"));
}

TEST(ApplyDiff, WhatIsNotThereIsAllNew) {
  const auto wanted = document(ManifestKind::kPolicy, R"({"name": "n", "tags": {"a.b": "1"}})");
  EXPECT_EQ(told(differences(wanted, Json())), (Lines{"name: null -> \"n\"", "tags.a.b: null -> \"1\""}));
}

}  // namespace
}  // namespace teson::cli
