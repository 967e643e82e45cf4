#include "api/batch/environment_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/batch/instance_types.h"
#include "api/batch/queue_json.h"

namespace teson::batch {
namespace {

using testing::HasSubstr;

const Arns kArns("us-east-1", "123456789012");
const InstanceCatalogue& catalogue() {
  static const InstanceCatalogue value = InstanceCatalogue::builtin();
  return value;
}
const BatchSettings kSettings{"us-east-1", "123456789012", true, {4'000, 7'000, 1}};

Json managed(Json resources) {
  Json all = {{"type", "EC2"}, {"maxvCpus", 16}, {"instanceTypes", {"m5"}}, {"subnets", {"subnet-1"}}};
  all.merge_patch(resources);
  return {{"computeEnvironmentName", "ce"}, {"type", "MANAGED"}, {"computeResources", all}};
}

std::string create_error(const Json& body) {
  const auto environment = parse_create_environment(body, catalogue(), kSettings);
  return environment ? "accepted" : environment.error().message;
}

TEST(CreateEnvironment, FamiliesTypesHostAndOptimal) {
  const auto names = [](const Json& types) {
    std::vector<std::string> out;
    const auto environment = parse_create_environment(managed({{"instanceTypes", types}}), catalogue(), kSettings);
    for (const auto& type : environment.value().instance_types) out.push_back(type.name);
    return out;
  };
  EXPECT_THAT(names({"m5.xlarge", "m5.large", "m5.large"}), testing::ElementsAre("m5.large", "m5.xlarge"));
  EXPECT_EQ(names({"m5"}).size(), 8u);
  EXPECT_EQ(names({"m5", "m5.large"}).size(), 8u);
  EXPECT_THAT(names({"host"}), testing::ElementsAre("host"));
  const auto optimal = names({"optimal"});
  EXPECT_EQ(optimal.front(), "c5.large");  // 2 vCPU, 4 GiB; of the same size the name decides
  EXPECT_THAT(optimal, testing::Contains("r7i.48xlarge"));
  EXPECT_THAT(optimal, testing::Not(testing::Contains("p3.2xlarge")));
}

TEST(CreateEnvironment, HostIsThisMachine) {
  const auto environment = parse_create_environment(managed({{"instanceTypes", {"host"}}}), catalogue(), kSettings);
  EXPECT_EQ(environment->instance_types.at(0).size, (Resources{4'000, 7'000, 1}));
}

TEST(CreateEnvironment, LimitsAtTheirEdges) {
  const struct {
    Json body;
    const char* said;
  } cases[] = {
      {managed(Json::object()), "accepted"},
      {managed({{"minvCpus", 16}}), "accepted"},
      {managed({{"minvCpus", 17}}), "minvCpus (17) must not be greater than maxvCpus (16)"},
      {managed({{"minvCpus", -1}}), "'computeResources.minvCpus'"},
      {managed({{"desiredvCpus", 17}}), "desiredvCpus (17) must be between"},
      {managed({{"minvCpus", 4}, {"desiredvCpus", 3}}), "desiredvCpus (3) must be between"},
      {managed({{"maxvCpus", nullptr}}), "'computeResources.maxvCpus' is missing"},
      {managed({{"maxvCpus", "16"}}), "'computeResources.maxvCpus'"},
      {managed({{"type", "LAMBDA"}}), "'computeResources.type'"},
      {managed({{"instanceTypes", {"m5.larg"}}}),
       "\"m5.larg\" is no known instance type or family; near ones: m5.large"},
      {managed({{"instanceTypes", {"m55"}}}), "near ones: m5,"},
      {managed({{"instanceTypes", nullptr}}), "accepted"},
      {managed({{"type", "FARGATE"}}), "must not be given for FARGATE"},
      {managed({{"type", "FARGATE_SPOT"}, {"instanceTypes", nullptr}}), "accepted"},
      {managed({{"subnets", "s"}}), "'computeResources.subnets'"},
      {managed({{"bidPercentage", 101}}), "'computeResources.bidPercentage'"},
      {{{"computeEnvironmentName", "a/b"}, {"type", "MANAGED"}}, "'computeEnvironmentName'"},
      {{{"computeEnvironmentName", "a"}, {"type", "MANAGED"}}, "'computeResources'"},
      {{{"computeEnvironmentName", "a"}, {"type", "managed"}}, "'type'"},
      {{{"computeEnvironmentName", "a"}, {"type", "UNMANAGED"}, {"unmanagedvCpus", 4}}, "accepted"},
      {{{"computeEnvironmentName", "a"}, {"type", "UNMANAGED"}, {"computeResources", {{"a", 1}}}}, "UNMANAGED"},
  };
  for (const auto& c : cases) EXPECT_THAT(create_error(c.body), HasSubstr(c.said)) << c.body.dump();
}

TEST(CreateEnvironment, MarketAndFargateComeFromTheType) {
  const auto of = [](const char* type) {
    Json resources = {{"type", type}};
    if (std::string_view(type).starts_with("FARGATE")) resources["instanceTypes"] = nullptr;
    return parse_create_environment(managed(resources), catalogue(), kSettings).value();
  };
  EXPECT_EQ(of("EC2").market, Market::kOnDemand);
  EXPECT_EQ(of("SPOT").market, Market::kSpot);
  EXPECT_FALSE(is_fargate(of("SPOT")));
  EXPECT_EQ(of("FARGATE").market, Market::kOnDemand);
  EXPECT_TRUE(is_fargate(of("FARGATE")));
  EXPECT_EQ(of("FARGATE_SPOT").market, Market::kSpot);
}

TEST(EnvironmentDetail, ReturnsWhatWasGivenAndWhatIs) {
  Json body = managed({{"minvCpus", 2}, {"securityGroupIds", {"sg-1"}}, {"instanceRole", "r"}});
  body["serviceRole"] = "role";
  body["tags"] = {{"a", "b"}};
  const auto environment = parse_create_environment(body, catalogue(), kSettings).value();
  const Json out = environment_detail(environment, 4, kArns);
  EXPECT_EQ(out["computeEnvironmentArn"], "arn:aws:batch:us-east-1:123456789012:compute-environment/ce");
  EXPECT_EQ(out["state"], "ENABLED");
  EXPECT_EQ(out["status"], "VALID");
  EXPECT_EQ(out["statusReason"], "ComputeEnvironment Healthy");
  EXPECT_EQ(out["serviceRole"], "role");
  EXPECT_EQ(out["tags"]["a"], "b");
  EXPECT_EQ(out["computeResources"]["minvCpus"], 2);
  EXPECT_EQ(out["computeResources"]["maxvCpus"], 16);
  EXPECT_EQ(out["computeResources"]["desiredvCpus"], 4);
  EXPECT_EQ(out["computeResources"]["instanceTypes"], Json({"m5"}));
  EXPECT_EQ(out["computeResources"]["subnets"], Json({"subnet-1"}));
  EXPECT_EQ(out["computeResources"]["instanceRole"], "r");
}

TEST(UpdateEnvironment, ChangesWhatIsGivenOnly) {
  auto environment = parse_create_environment(managed({{"minvCpus", 2}}), catalogue(), kSettings).value();
  const auto apply = [&](const Json& changes) -> std::string {
    Json body = {{"computeEnvironment", "ce"}};
    body.update(changes);
    auto update = parse_update_environment(body, kArns, catalogue(), kSettings);
    if (!update) return update.error().message;
    EXPECT_EQ(update->name, "ce");
    const Status status = update->change(environment);
    return status ? "changed" : status.error().message;
  };
  EXPECT_EQ(apply({{"state", "DISABLED"}}), "changed");
  EXPECT_FALSE(environment.enabled);
  EXPECT_EQ(environment.max_vcpus, 16);

  EXPECT_EQ(apply({{"computeResources", {{"desiredvCpus", 8}}}}), "changed");
  EXPECT_EQ(environment.desired_vcpus, 8);
  EXPECT_EQ(apply({{"computeResources", {{"maxvCpus", 4}}}}), "changed");
  EXPECT_EQ(environment.desired_vcpus, 4);  // brought within the new bounds
  EXPECT_THAT(apply({{"computeResources", {{"minvCpus", 5}}}}),
              HasSubstr("minvCpus (5) must not be greater than maxvCpus (4)"));
  EXPECT_EQ(environment.min_vcpus, 2);

  EXPECT_EQ(apply({{"computeResources", {{"instanceTypes", {"c5.large"}}, {"type", "SPOT"}}}, {"serviceRole", "r2"}}),
            "changed");
  EXPECT_EQ(environment.instance_types.size(), 1u);
  EXPECT_EQ(environment.market, Market::kSpot);
  const Json out = environment_detail(environment, 0, kArns);
  EXPECT_EQ(out["computeResources"]["instanceTypes"], Json({"c5.large"}));
  EXPECT_EQ(out["computeResources"]["type"], "SPOT");
  EXPECT_EQ(out["computeResources"]["subnets"], Json({"subnet-1"}));
  EXPECT_EQ(out["serviceRole"], "r2");

  EXPECT_THAT(apply({{"computeResources", {{"type", "FARGATE"}}}}), HasSubstr("between EC2 and Fargate"));
  EXPECT_THAT(apply({{"computeResources", {{"instanceTypes", {"x9"}}}}}), HasSubstr("no known instance type"));
  EXPECT_THAT(apply({{"unmanagedvCpus", 3}}), HasSubstr("MANAGED"));
  EXPECT_THAT(apply({{"state", "ON"}}), HasSubstr("'state'"));
}

class QueueJson : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"a", "b", "c", "d"}) put(name, {{"host", {1'000, 1'000, 0}, {}, {}}});
    put("f", {});
  }
  void put(const char* name, std::vector<InstanceType> types) {
    ComputeEnvironment environment;
    environment.name = name;
    environment.instance_types = std::move(types);
    registry_.apply({{}, fact::EnvironmentPut{environment}});
  }
  Json body(const std::vector<std::pair<int, std::string>>& order) {
    Json list = Json::array();
    for (const auto& [number, name] : order) list.push_back({{"order", number}, {"computeEnvironment", name}});
    return {{"jobQueueName", "q"}, {"priority", 5}, {"computeEnvironmentOrder", list}};
  }
  std::string error(const Json& request) {
    const auto queue = parse_create_queue(request, kArns, registry_);
    return queue ? "accepted" : queue.error().message;
  }

  RegistryView registry_;
};

TEST_F(QueueJson, EnvironmentsAreTriedByOrder) {
  const auto queue = parse_create_queue(body({{7, "a"}, {-2, kArns.environment("b")}}), kArns, registry_);
  ASSERT_TRUE(queue) << queue.error().message;
  EXPECT_THAT(queue->environments, testing::ElementsAre("b", "a"));
  const Json out = queue_detail(*queue, kArns);
  EXPECT_EQ(out["computeEnvironmentOrder"][0]["order"], -2);
  EXPECT_EQ(out["computeEnvironmentOrder"][0]["computeEnvironment"], kArns.environment("b"));
  EXPECT_EQ(out["priority"], 5);
  EXPECT_EQ(out["state"], "ENABLED");
  EXPECT_EQ(out["status"], "VALID");
}

TEST_F(QueueJson, LimitsAtTheirEdges) {
  EXPECT_THAT(error(body({})), HasSubstr("'computeEnvironmentOrder'"));
  EXPECT_EQ(error(body({{1, "a"}, {2, "b"}, {3, "c"}})), "accepted");
  EXPECT_THAT(error(body({{1, "a"}, {2, "b"}, {3, "c"}, {4, "d"}})), HasSubstr("'computeEnvironmentOrder'"));
  EXPECT_THAT(error(body({{1, "a"}, {1, "b"}})), HasSubstr("order 1 is given twice"));
  EXPECT_THAT(error(body({{1, "a"}, {2, "a"}})), HasSubstr("'a' is given twice"));
  EXPECT_THAT(error(body({{1, "x"}})), HasSubstr("compute environment 'x' does not exist"));
  EXPECT_THAT(error(body({{1, "a"}, {2, "f"}})), HasSubstr("cannot be mixed"));
  Json request = body({{1, "a"}});
  request["schedulingPolicyArn"] = "arn:x";
  EXPECT_THAT(error(request), HasSubstr("is not an ARN of this server"));
  request = body({{1, "a"}});
  request["priority"] = -1;
  EXPECT_THAT(error(request), HasSubstr("'priority'"));
  request.erase("priority");
  EXPECT_THAT(error(request), HasSubstr("'priority'"));
}

TEST_F(QueueJson, TimeLimitsAreKeptAndChecked) {
  const auto limit = [](Json changes) {
    Json entry = {{"reason", "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"},
                  {"state", "RUNNABLE"},
                  {"maxTimeSeconds", 600},
                  {"action", "CANCEL"}};
    entry.update(changes);
    return entry;
  };
  Json request = body({{1, "a"}});
  const auto with = [&](Json changes) {
    request["jobStateTimeLimitActions"] = Json::array({limit(std::move(changes))});
    return error(request);
  };
  EXPECT_THAT(with({{"reason", "CAPACITY:NONE"}}), HasSubstr("reason"));
  EXPECT_THAT(with({{"state", "RUNNING"}}), HasSubstr("state"));
  EXPECT_THAT(with({{"action", "TERMINATE"}}), HasSubstr("action"));
  EXPECT_THAT(with({{"maxTimeSeconds", 599}}), HasSubstr("maxTimeSeconds"));
  EXPECT_THAT(with({{"maxTimeSeconds", 86'401}}), HasSubstr("maxTimeSeconds"));
  request["jobStateTimeLimitActions"] = Json::array({limit({{"maxTimeSeconds", 86'400}})});
  const auto queue = parse_create_queue(request, kArns, registry_);
  ASSERT_TRUE(queue.has_value()) << queue.error().message;
  EXPECT_EQ(queue_detail(*queue, kArns)["jobStateTimeLimitActions"], request["jobStateTimeLimitActions"]);
}

TEST_F(QueueJson, AnUpdateChangesWhatIsGivenOnly) {
  Queue queue = parse_create_queue(body({{1, "a"}}), kArns, registry_).value();
  const auto disable = parse_update_queue({{"jobQueue", "q"}, {"state", "DISABLED"}}, kArns, registry_).value();
  ASSERT_TRUE(disable.change(queue));
  EXPECT_FALSE(queue.enabled);
  EXPECT_EQ(queue.priority, 5);
  Json reorder = body({{4, "c"}});
  reorder["jobQueue"] = kArns.queue("q");
  reorder.erase("priority");
  const auto update = parse_update_queue(reorder, kArns, registry_).value();
  EXPECT_EQ(update.name, "q");
  ASSERT_TRUE(update.change(queue));
  EXPECT_THAT(queue.environments, testing::ElementsAre("c"));
  EXPECT_FALSE(queue.enabled);
  EXPECT_EQ(queue_detail(queue, kArns)["computeEnvironmentOrder"][0]["order"], 4);
}

}  // namespace
}  // namespace teson::batch
