// Consumable resources over the wire.
#include "api/batch/batch_fixture_testing.h"

namespace teson::batch {
namespace {

TEST_F(Batch, AConsumableResourceIsMadeDescribedChangedAndDeleted) {
  const std::string arn = "arn:aws:batch:us-east-1:123456789012:consumable-resource/licence";
  EXPECT_EQ(world_
                .post("createconsumableresource",
                      {{"consumableResourceName", "licence"}, {"totalQuantity", 3}, {"tags", {{"team", "x"}}}})
                .body,
            Json({{"consumableResourceName", "licence"}, {"consumableResourceArn", arn}}));
  expect_refused(world_.post("createconsumableresource", {{"consumableResourceName", "licence"}}), "already exists");
  Json described = world_.post("describeconsumableresource", {{"consumableResource", arn}}).body;
  described.erase("createdAt");
  EXPECT_EQ(described, Json({{"consumableResourceName", "licence"},
                             {"consumableResourceArn", arn},
                             {"totalQuantity", 3},
                             {"inUseQuantity", 0},
                             {"availableQuantity", 3},
                             {"resourceType", "REPLENISHABLE"},
                             {"tags", {{"team", "x"}}}}));
  const auto update = [&](const Json& change) {
    Json body = {{"consumableResource", "licence"}};
    body.update(change);
    return world_.post("updateconsumableresource", body);
  };
  const Json add = {{"operation", "ADD"}, {"quantity", 2}, {"clientToken", "t"}};
  EXPECT_EQ(update(add).body["totalQuantity"], 5);
  EXPECT_EQ(update(add).body["totalQuantity"], 5) << "the same request again";
  EXPECT_EQ(update({{"operation", "REMOVE"}, {"quantity", 4}}).body["totalQuantity"], 1);
  expect_refused(update({{"operation", "REMOVE"}, {"quantity", 2}}), "has only 1 to remove");
  expect_refused(update({{"operation", "SET"}, {"quantity", -1}}), "quantity");
  expect_refused(update({{"operation", "SET"}}), "'quantity' is missing");
  expect_refused(update({{"operation", "LEND"}, {"quantity", 1}}), "operation");
  EXPECT_EQ(update({{"operation", "SET"}, {"quantity", 9}}).body["totalQuantity"], 9);
  EXPECT_EQ(tags("POST", arn, "", {{"tags", {{"team", "y"}}}}).status, 200);
  EXPECT_EQ(tags("GET", arn).body["tags"]["team"], "y");

  for (const char* name : {"a", "b"}) world_.post("createconsumableresource", {{"consumableResourceName", name}});
  const Json page = world_.post("listconsumableresources", {{"maxResults", 2}}).body;
  EXPECT_EQ(page["consumableResources"].size(), 2u);
  const Json rest = world_.post("listconsumableresources", {{"nextToken", page["nextToken"]}}).body;
  ASSERT_EQ(rest["consumableResources"].size(), 1u);
  EXPECT_EQ(rest["consumableResources"][0]["totalQuantity"], 9);
  EXPECT_EQ(world_.post("deleteconsumableresource", {{"consumableResource", "a"}}).status, 200);
  expect_refused(world_.post("describeconsumableresource", {{"consumableResource", "a"}}), "'a' does not exist");
}

TEST_F(Batch, ConsumableResourcesAreFoundByNameAsJobsAre) {
  for (const char* name : {"licence-A", "licence-B", "tokens"}) {
    world_.post("createconsumableresource", {{"consumableResourceName", name}});
  }
  const auto found = [&](const char* pattern) {
    const Json filters = Json::array({{{"name", "CONSUMABLE_RESOURCE_NAME"}, {"values", {pattern}}}});
    std::vector<std::string> names;
    const Answer answer = world_.post("listconsumableresources", {{"filters", filters}});
    EXPECT_EQ(answer.status, 200) << answer.body.dump();
    for (const Json& one : answer.body["consumableResources"]) {
      names.push_back(one["consumableResourceName"]);
    }
    return names;
  };
  using testing::ElementsAre;
  EXPECT_THAT(found("LICENCE-*"), ElementsAre("licence-A", "licence-B"));
  EXPECT_THAT(found("licence-a"), ElementsAre("licence-A")) << "whatever its case";
  EXPECT_THAT(found("licence"), ElementsAre()) << "without an asterisk the whole name counts";
}

TEST_F(Batch, JobsOfAConsumableResourceAreListedInPages) {
  world_.post("createconsumableresource", {{"consumableResourceName", "licence"}, {"totalQuantity", 1}});
  const Json asks = {{"consumableResourceList", {{{"consumableResource", "licence"}, {"quantity", 1}}}}};
  std::vector<std::string> ids;
  for (const char* name : {"train-1", "train-2", "other"}) {
    ids.push_back(world_.submit({{"jobName", name}, {"consumableResourcePropertiesOverride", asks}}));
  }
  EXPECT_EQ(world_.describe(ids[0])["consumableResourceProperties"], asks);
  const auto listed = [&](Json request) {
    request["consumableResource"] = "licence";
    return world_.post("listjobsbyconsumableresource", request).body;
  };
  const Json first = listed({{"maxResults", 2}});
  ASSERT_EQ(first["jobs"].size(), 2u);
  EXPECT_EQ(first["jobs"][0]["jobStatus"], "STARTING");
  EXPECT_EQ(first["jobs"][1]["jobStatus"], "RUNNABLE");
  EXPECT_THAT(first["jobs"][1]["statusReason"].get<std::string>(), testing::HasSubstr("asked 1, free 0 of 1"));
  const Json rest = listed({{"nextToken", first["nextToken"]}});
  ASSERT_EQ(rest["jobs"].size(), 1u);
  EXPECT_EQ(rest["jobs"][0]["jobName"], "other");
  EXPECT_FALSE(rest.contains("nextToken"));
  EXPECT_EQ(listed({{"filters", {{{"name", "JOB_NAME"}, {"values", {"TRAIN-*"}}}}}})["jobs"].size(), 2u);
  EXPECT_EQ(listed({{"filters", {{{"name", "JOB_STATUS"}, {"values", {"RUNNABLE"}}}}}})["jobs"].size(), 2u);
  const auto refused = [&](const Json& change, const char* said) {
    Json request = {{"consumableResource", "licence"}};
    request.update(change);
    expect_refused(world_.post("listjobsbyconsumableresource", request), said);
  };
  refused({{"filters", {{{"name", "JOB_STATUS"}, {"values", {"DONE"}}}}}}, "RUNNABLE, STARTING");
  refused({{"nextToken", "eA=="}}, "'nextToken'");
}

}  // namespace
}  // namespace teson::batch
