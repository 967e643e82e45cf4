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

}  // namespace
}  // namespace teson::batch
