#include "api/batch/submit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace teson::batch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

const Arns kArns("us-east-1", "123456789012");

Json definition_body() {
  return Json::parse(R"({"jobDefinitionName": "train", "type": "container", "containerProperties": {"image": "host",
    "command": ["echo", "Ref::what", "xRef::what", "Ref::unknown"],
    "environment": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
    "resourceRequirements": [{"type": "VCPU", "value": "2"}, {"type": "MEMORY", "value": "1024"}]},
    "parameters": {"what": "default"}})");
}

Json submit_body() { return {{"jobName", "j"}, {"jobQueue", "main"}, {"jobDefinition", "train"}}; }

ParsedDefinition parsed(const Json& body) {
  auto definition = parse_register(body);
  EXPECT_TRUE(definition) << definition.error().message;
  definition->revision = 3;
  auto out = parse_definition(*definition);
  EXPECT_TRUE(out) << out.error().message;
  return std::move(*out);
}

JobSpec spec_of(const Json& definition, const Json& submit) {
  auto request = parse_submit(submit, kArns);
  EXPECT_TRUE(request) << request.error().message;
  auto spec = make_spec(std::move(*request), parsed(definition), BatchSettings{});
  EXPECT_TRUE(spec) << spec.error().message;
  return std::move(*spec);
}

std::string submit_error(const Json& changes) {
  Json body = submit_body();
  body.merge_patch(changes);
  const auto request = parse_submit(body, kArns);
  return request ? "accepted" : request.error().message;
}

std::string register_error(const Json& changes) {
  Json body = definition_body();
  body.merge_patch(changes);
  const auto definition = parse_register(body);
  return definition ? "accepted" : definition.error().message;
}

// ---- Merging ----

TEST(Submit, TakesEverythingFromTheDefinition) {
  Json definition = definition_body();
  definition["retryStrategy"] = {{"attempts", 3}};
  definition["timeout"] = {{"attemptDurationSeconds", 90}};
  definition["schedulingPriority"] = 7;
  const JobSpec spec = spec_of(definition, submit_body());
  EXPECT_EQ(spec.name, "j");
  EXPECT_EQ(spec.queue, "main");
  EXPECT_EQ(spec.definition, "train");
  EXPECT_EQ(spec.definition_revision, 3);
  EXPECT_EQ(spec.image, "host");
  EXPECT_THAT(spec.command, ElementsAre("echo", "default", "xRef::what", "Ref::unknown"));
  EXPECT_THAT(spec.environment, ElementsAre(Pair("A", "1"), Pair("B", "2")));
  EXPECT_EQ(spec.resources, (Resources{2'000, 1'024, 0}));
  EXPECT_EQ(spec.retry.attempts, 3);
  EXPECT_EQ(spec.attempt_timeout, Duration::seconds(90));
  EXPECT_EQ(spec.priority, 7);
  EXPECT_EQ(spec.grace, Duration::seconds(30));
  EXPECT_TRUE(spec.interruptions_use_attempts);
  EXPECT_EQ(Json::parse(spec.document), Json::parse(R"({"parameters": {"what": "default"}})"));
}

TEST(Submit, GoesOverTheDefinition) {
  Json definition = definition_body();
  definition["retryStrategy"] = {{"attempts", 3}};
  definition["propagateTags"] = false;
  definition["containerProperties"]["jobRoleArn"] = "arn:aws:iam::1:role/r";
  Json submit = submit_body();
  submit.update(Json::parse(R"({"parameters": {"what": "Ref::unknown", "more": "x"}, "propagateTags": true,
    "retryStrategy": {"attempts": 2, "evaluateOnExit": [{"onExitCode": "1*", "action": "exit"}]},
    "timeout": {"attemptDurationSeconds": 60}, "schedulingPriorityOverride": 9999,
    "tags": {"team": "vision"},
    "containerOverrides": {"environment": [{"name": "C", "value": "3"}, {"name": "A", "value": "9"}, {"name": "D"}],
      "resourceRequirements": [{"type": "GPU", "value": "1"}, {"type": "VCPU", "value": "0.25"}]}})"));
  const JobSpec spec = spec_of(definition, submit);
  EXPECT_THAT(spec.command, ElementsAre("echo", "Ref::unknown", "xRef::what", "Ref::unknown"));
  EXPECT_THAT(spec.environment, ElementsAre(Pair("A", "9"), Pair("B", "2"), Pair("C", "3"), Pair("D", "")));
  EXPECT_EQ(spec.resources, (Resources{250, 1'024, 1}));
  EXPECT_EQ(spec.retry.attempts, 2);
  ASSERT_EQ(spec.retry.rules.size(), 1u);
  EXPECT_EQ(spec.retry.rules[0].on_exit_code, "1*");
  EXPECT_EQ(spec.retry.rules[0].action, RetryAction::kExit);
  EXPECT_EQ(spec.attempt_timeout, Duration::seconds(60));
  EXPECT_EQ(spec.priority, 9999);
  EXPECT_THAT(spec.tags, ElementsAre(Pair("team", "vision")));
  EXPECT_EQ(Json::parse(spec.document), Json::parse(R"({"container": {"jobRoleArn": "arn:aws:iam::1:role/r"},
    "parameters": {"what": "Ref::unknown", "more": "x"}, "propagateTags": true})"));
}

// [AWS Batch API, ContainerOverrides.vcpus and .memory]: the deprecated members do not override resourceRequirements.
TEST(Submit, LegacyOverridesYieldToListedRequirements) {
  Json submit = submit_body();
  submit["containerOverrides"] = {{"vcpus", 8}, {"memory", 4096}};
  EXPECT_EQ(spec_of(definition_body(), submit).resources, (Resources{2'000, 1'024, 0}));

  Json legacy = definition_body();
  legacy["containerProperties"].erase("resourceRequirements");
  legacy["containerProperties"].update({{"vcpus", 1}, {"memory", 4}});
  EXPECT_EQ(spec_of(legacy, submit_body()).resources, (Resources{1'000, 4, 0}));
  EXPECT_EQ(spec_of(legacy, submit).resources, (Resources{8'000, 4'096, 0}));
}

TEST(Submit, AnEmptyCommandOverridesNothingAndNoCommandIsRefused) {
  Json submit = submit_body();
  submit["containerOverrides"] = {{"command", Json::array()}};
  EXPECT_EQ(spec_of(definition_body(), submit).command.front(), "echo");
  Json bare = definition_body();
  bare["containerProperties"].erase("command");
  const auto spec = make_spec(*parse_submit(submit_body(), kArns), parsed(bare), BatchSettings{});
  ASSERT_FALSE(spec);
  EXPECT_THAT(spec.error().message,
              HasSubstr("no command: neither job definition train:3 nor containerOverrides.command"));
}

TEST(Submit, ParameterWithNulIsRefusedWhereItBecomesAnArgument) {
  Json submit = submit_body();
  submit["parameters"] = {{"what", std::string("a\0b", 3)}};
  const auto spec = make_spec(*parse_submit(submit, kArns), parsed(definition_body()), BatchSettings{});
  ASSERT_FALSE(spec);
  EXPECT_THAT(spec.error().message, HasSubstr("NUL"));
}

TEST(Submit, NamesAndArnsAreAlike) {
  Json submit = submit_body();
  submit["jobQueue"] = "arn:aws:batch:us-east-1:123456789012:job-queue/main";
  submit["jobDefinition"] = "arn:aws:batch:us-east-1:123456789012:job-definition/train:12";
  const auto request = parse_submit(submit, kArns);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->queue, "main");
  EXPECT_EQ(request->definition.name, "train");
  EXPECT_EQ(request->definition.revision, 12);
}

TEST(Submit, TagsSteerTheJobAndTheSubmitWins) {
  Json definition = definition_body();
  definition["tags"] = {
      {"teson:grace-seconds", "5"}, {"teson:interruptions", "free"}, {"teson:working-directory", "/a b"}};
  JobSpec spec = spec_of(definition, submit_body());
  EXPECT_EQ(spec.grace, Duration::seconds(5));
  EXPECT_FALSE(spec.interruptions_use_attempts);
  EXPECT_EQ(spec.working_directory, "/a b");
  EXPECT_TRUE(spec.tags.empty());

  Json submit = submit_body();
  submit["tags"] = {{"teson:grace-seconds", "0"}, {"teson:interruptions", "counted"}};
  spec = spec_of(definition, submit);
  EXPECT_EQ(spec.grace, Duration::seconds(0));
  EXPECT_TRUE(spec.interruptions_use_attempts);
  EXPECT_EQ(spec.working_directory, "/a b");
  EXPECT_EQ(spec.tags.size(), 2u);
}

TEST(Submit, SettingsSayHowInterruptionsCountByDefault) {
  BatchSettings settings;
  settings.interruptions_use_attempts = false;
  const auto spec = make_spec(*parse_submit(submit_body(), kArns), parsed(definition_body()), settings);
  EXPECT_FALSE(spec->interruptions_use_attempts);
}

TEST(Submit, ADependencyGivenTwiceCountsOnce) {
  Json submit = submit_body();
  const Json one = {{"jobId", "7c9e6679-7425-40de-944b-e07fc1f90ae7"}};
  submit["dependsOn"] = Json::array({one, one});
  EXPECT_EQ(parse_submit(submit, kArns)->depends_on.jobs.size(), 1u);
}

// ---- Limits ----

struct Case {
  Json changes;
  const char* said;  // "accepted", or a part of the message
};

Json text(size_t size, char c = 'a') { return std::string(size, c); }

Json many_tags(int count) {
  Json tags = Json::object();
  for (int i = 0; i < count; ++i) tags["k" + std::to_string(i)] = "v";
  return {{"tags", tags}};
}

Json many_dependencies(int count) {
  Json list = Json::array();
  for (int i = 0; i < count; ++i) list.push_back({{"jobId", random_job_id().text()}});
  return {{"dependsOn", list}};
}

Json rules(Json list) { return {{"retryStrategy", {{"attempts", 2}, {"evaluateOnExit", std::move(list)}}}}; }
Json rule(const char* condition, Json pattern) {
  return rules(Json::array({{{condition, std::move(pattern)}, {"action", "RETRY"}}}));
}
Json overrides(Json value) { return {{"containerOverrides", std::move(value)}}; }
Json variable(std::string name) {
  return overrides({{"environment", Json::array({{{"name", std::move(name)}, {"value", ""}}})}});
}
Json requirement(const char* type, const char* value) {
  return overrides({{"resourceRequirements", Json::array({{{"type", type}, {"value", value}}})}});
}

TEST(Submit, LimitsAtTheirEdges) {
  const Json rule_entry = {{"onExitCode", "1"}, {"action", "RETRY"}};
  const Case cases[] = {
      {{{"jobName", text(128)}}, "accepted"},
      {{{"jobName", text(129)}}, "'jobName'"},
      {{{"jobName", ""}}, "'jobName'"},
      {{{"jobName", nullptr}}, "'jobName'"},
      {{{"jobName", 7}}, "'jobName'"},
      {{{"jobName", "0_a-B"}}, "accepted"},
      {{{"jobName", "-a"}}, "must start with a letter or digit"},
      {{{"jobName", "_a"}}, "must start with a letter or digit"},
      {{{"jobName", "a\nb"}}, R"("a\x0ab")"},
      {{{"jobName", "niño"}}, "letters (A-Z, a-z)"},
      {{{"jobQueue", "a b"}}, "'jobQueue'"},
      {{{"jobQueue", "arn:aws:batch:eu-west-1:123456789012:job-queue/main"}}, "not an ARN of this server"},
      {{{"jobQueue", "arn:aws:batch:us-east-1:123456789012:job-definition/a:1"}}, "something else"},
      {{{"jobDefinition", "train:0"}}, "NAME:REVISION"},
      {{{"jobDefinition", "train:x"}}, "NAME:REVISION"},
      {{{"jobDefinition", "train:"}}, "NAME:REVISION"},
      {many_tags(50), "accepted"},
      {many_tags(51), "'tags'"},
      {{{"tags", {{std::string(128, 'k'), std::string(256, 'v')}}}}, "accepted"},
      {{{"tags", {{std::string(129, 'k'), "v"}}}}, "128"},
      {{{"tags", {{"k", std::string(257, 'v')}}}}, "256"},
      {{{"tags", {{"", "v"}}}}, "'tags"},
      {{{"tags", {{"AWS:x", "v"}}}}, "reserved"},
      {{{"tags", {{"ñandú", "ü\n"}}}}, "accepted"},
      {many_dependencies(20), "accepted"},
      {many_dependencies(21), "'dependsOn'"},
      {{{"dependsOn", Json::array({{{"jobId", "nope"}}})}}, "Job \"nope\" does not exist"},
      {{{"retryStrategy", {{"attempts", 1}}}}, "accepted"},
      {{{"retryStrategy", {{"attempts", 10}}}}, "accepted"},
      {{{"retryStrategy", {{"attempts", 0}}}}, "'retryStrategy.attempts'"},
      {{{"retryStrategy", {{"attempts", 11}}}}, "'retryStrategy.attempts'"},
      {{{"retryStrategy", {{"attempts", 1.5}}}}, "'retryStrategy.attempts'"},
      {{{"retryStrategy", {{"evaluateOnExit", Json::array({rule_entry})}}}}, "'retryStrategy.attempts' is missing"},
      {rules(Json(5, rule_entry)), "accepted"},
      {rules(Json(6, rule_entry)), "'retryStrategy.evaluateOnExit'"},
      {rules(Json::array({{{"action", "again"}}})), "RETRY or EXIT"},
      {rules(Json::array({{{"onExitCode", "1"}}})), "action"},
      {rule("onExitCode", "137"), "accepted"},
      {rule("onExitCode", "*"), "accepted"},
      {rule("onExitCode", "1a"), "digits"},
      {rule("onExitCode", "1*3"), "digits"},
      {rule("onStatusReason", "Host EC2*"), "accepted"},
      {rule("onStatusReason", "Host (EC2)"), "letters, digits"},
      {rule("onStatusReason", "a*b"), "letters, digits"},
      {rule("onReason", "OutOfMemoryError: x.\ty*"), "accepted"},
      {rule("onReason", text(512)), "accepted"},
      {rule("onReason", text(513)), "512"},
      {{{"timeout", {{"attemptDurationSeconds", 60}}}}, "accepted"},
      {{{"timeout", {{"attemptDurationSeconds", 59}}}}, "'timeout.attemptDurationSeconds'"},
      {{{"schedulingPriorityOverride", 9999}}, "accepted"},
      {{{"schedulingPriorityOverride", 10000}}, "'schedulingPriorityOverride'"},
      {{{"schedulingPriorityOverride", -1}}, "'schedulingPriorityOverride'"},
      {variable("AWS_BATC"), "accepted"},
      {variable("AWS_BATCH"), "reserved"},
      {variable("AWS_BATCH_JOB_ID"), "reserved"},
      {variable("A=B"), "must not hold '='"},
      {variable(""), "environment[0].name"},
      {variable(std::string("A\0", 2)), "NUL"},
      {overrides({{"command", {"a", std::string("\0", 1)}}}), "'containerOverrides.command[1]' holds a NUL"},
      {overrides({{"command", {"a", 1}}}), "command[1]"},
      {overrides({{"command", "a"}}), "'containerOverrides.command'"},
      {requirement("VCPU", "0.25"), "accepted"},
      {requirement("VCPU", "0.5"), "accepted"},
      {requirement("VCPU", "2.0"), "accepted"},
      {requirement("VCPU", "0.3"), "VCPU must be"},
      {requirement("VCPU", "1.5"), "VCPU must be"},
      {requirement("VCPU", "0"), "VCPU must be"},
      {requirement("VCPU", "-1"), "VCPU must be"},
      {requirement("VCPU", ""), "VCPU must be"},
      {requirement("MEMORY", "4"), "accepted"},
      {requirement("MEMORY", "3"), "MEMORY must be"},
      {requirement("MEMORY", "4GiB"), "MEMORY must be"},
      {requirement("GPU", "1"), "accepted"},
      {requirement("GPU", "0"), "GPU must be"},
      {requirement("DISK", "1"), "enum"},
      {overrides({{"vcpus", 0}}), "'containerOverrides.vcpus'"},
      {overrides({{"memory", 3}}), "'containerOverrides.memory'"},
      {{{"arrayProperties", {{"size", 1}}}}, "'arrayProperties.size' is 1: an array job has 2 to 10000 children"},
      {{{"arrayProperties", {{"size", 2}}}}, "accepted"},
      {{{"arrayProperties", {{"size", 10'000}}}}, "accepted"},
      {{{"arrayProperties", {{"size", 10'001}}}}, "'arrayProperties.size' is 10001"},
      {{{"arrayProperties", {{"size", "3"}}}}, "'arrayProperties.size'"},
      {{{"arrayProperties", Json::object()}}, "accepted"},
      {{{"dependsOn", Json::array({{{"type", "SEQUENTIAL"}}})}}, "which is for array jobs"},
      {{{"dependsOn", Json::array({{{"type", "AFTER"}}})}}, "enum"},
      {{{"arrayProperties", {{"size", 2}}}, {"dependsOn", Json::array({{{"type", "SEQUENTIAL"}}})}}, "accepted"},
      {{{"arrayProperties", {{"size", 2}}}, {"dependsOn", Json::array({{{"type", "N_TO_N"}}})}}, "jobId"},
      {{{"tags", {{"teson:after", "all"}}}}, "any or success"},
      {{{"tags", {{"teson:array-throttle", "-1"}}}}, "teson:array-throttle is \"-1\""},
      {{{"tags", {{"teson:array-throttle", "10001"}}}}, "from 1 to 10000"},
      {{{"tags", {{"teson:array-throttle", "8"}}}}, "accepted"},
      {{{"tags", {{"teson:rerun-of", "x"}}}}, "the id of an array job"},
      {{{"nodeOverrides", {{"numNodes", 2}}}}, "multi-node jobs are not supported"},
      {{{"eksPropertiesOverride", {{"podProperties", 1}}}}, "EKS"},
      {{{"shareIdentifier", "a"}}, "accepted"},
      {{{"shareIdentifier", "a b"}}, "letters and digits"},
      {{{"shareIdentifier", std::string(255, 'a')}}, "accepted"},
      {{{"shareIdentifier", std::string(256, 'a')}}, "letters and digits"},
      {{{"tags", {{"teson:grace-seconds", "3600"}}}}, "accepted"},
      {{{"tags", {{"teson:grace-seconds", "3601"}}}}, "teson:grace-seconds"},
      {{{"tags", {{"teson:grace-seconds", "1s"}}}}, "teson:grace-seconds"},
      {{{"tags", {{"teson:grace-seconds", ""}}}}, "teson:grace-seconds"},
      {{{"tags", {{"teson:interruptions", "Free"}}}}, "free or counted"},
      {{{"tags", {{"teson:working-directory", "a"}}}}, "absolute path"},
      {{{"tags", {{"teson:gpu", "a"}}}}, "not known"},
      {{{"somethingNew", {{"a", 1}}}}, "accepted"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(submit_error(c.changes), HasSubstr(c.said)) << c.changes.dump().substr(0, 200);
  }
}

TEST(Register, LimitsAtTheirEdges) {
  const auto container = [](Json changes) -> Json { return {{"containerProperties", std::move(changes)}}; };
  const Json vcpu = {{"type", "VCPU"}, {"value", "1"}};
  const Json memory = {{"type", "MEMORY"}, {"value", "4"}};
  const Case cases[] = {
      {Json::object(), "accepted"},
      {{{"jobDefinitionName", text(128)}}, "accepted"},
      {{{"jobDefinitionName", text(129)}}, "'jobDefinitionName'"},
      {{{"jobDefinitionName", "a.b"}}, "'jobDefinitionName'"},
      {{{"type", "multinode"}}, "multi-node jobs are not supported"},
      {{{"type", "pod"}}, "'type'"},
      {{{"type", nullptr}}, "'type'"},
      {{{"containerProperties", nullptr}}, "'containerProperties'"},
      {{{"nodeProperties", {{"numNodes", 2}}}}, "multi-node"},
      {{{"eksProperties", {{"podProperties", 1}}}}, "EKS"},
      {{{"consumableResourceProperties",
         {{"consumableResourceList", {{{"consumableResource", "a b"}, {"quantity", 1}}}}}}},
       "is no name"},
      {{{"consumableResourceProperties",
         {{"consumableResourceList", {{{"consumableResource", "a"}, {"quantity", 0}}}}}}},
       "quantity"},
      {{{"consumableResourceProperties", {{"consumableResourceList", {{{"consumableResource", "a"}}}}}}}, "quantity"},
      {{{"schedulingPriority", 10000}}, "'schedulingPriority'"},
      {{{"platformCapabilities", {"FARGATE"}}}, "accepted"},
      {{{"platformCapabilities", {"LAMBDA"}}}, "EC2 or FARGATE"},
      {{{"parameters", {{"a", 1}}}}, "parameters"},
      {container({{"image", nullptr}}), "'containerProperties.image'"},
      {container({{"image", text(255)}}), "accepted"},
      {container({{"image", text(256)}}), "'containerProperties.image'"},
      {container({{"image", "a b"}}), "image name"},
      {container({{"image", "repo/x@sha256:ab"}}), "accepted"},
      {container({{"resourceRequirements", Json::array({vcpu})}}), "names no MEMORY"},
      {container({{"resourceRequirements", Json::array({memory})}}), "names no VCPU"},
      {container({{"resourceRequirements", Json::array({memory, vcpu, vcpu})}}), "VCPU is given twice"},
      {container({{"vcpus", 1}}), "both given"},
      {container({{"memory", 64}}), "both given"},
      {container({{"volumes", "x"}}), "'containerProperties.volumes'"},
      {container({{"privileged", "yes"}}), "'containerProperties.privileged'"},
      {container({{"linuxParameters", {1}}}), "'containerProperties.linuxParameters'"},
      {container({{"jobRoleArn", 1}}), "'containerProperties.jobRoleArn'"},
      {container({{"environment", Json::array({{{"name", "AWS_BATCH_X"}}})}}), "reserved"},
      {{{"tags", {{"teson:interruptions", "never"}}}}, "free or counted"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(register_error(c.changes), HasSubstr(c.said)) << c.changes.dump().substr(0, 200);
  }
}

TEST(Register, KeepsWhatMeansNothingHereAndReturnsIt) {
  Json body = definition_body();
  body["containerProperties"]["volumes"] = Json::parse(R"([{"name": "v", "host": {"sourcePath": "/x"}}])");
  body["containerProperties"]["executionRoleArn"] = "role";
  body["retryStrategy"] = Json::parse(R"({"attempts": 2, "evaluateOnExit": [{"action": "retry", "onReason": "x*"}]})");
  body["tags"] = {{"a", "b"}};
  auto definition = parse_register(body);
  ASSERT_TRUE(definition);
  definition->revision = 2;
  const Json out = definition_json(*definition, kArns);
  EXPECT_EQ(out["jobDefinitionArn"], "arn:aws:batch:us-east-1:123456789012:job-definition/train:2");
  EXPECT_EQ(out["status"], "ACTIVE");
  EXPECT_EQ(out["tags"], (Json{{"a", "b"}}));
  EXPECT_EQ(out["containerProperties"]["volumes"][0]["host"]["sourcePath"], "/x");
  EXPECT_EQ(out["containerProperties"]["executionRoleArn"], "role");
  EXPECT_EQ(out["containerProperties"]["ulimits"], Json::array());
  EXPECT_EQ(out["retryStrategy"]["evaluateOnExit"][0]["action"], "RETRY");
  EXPECT_EQ(out["parameters"]["what"], "default");
}

TEST(DefinitionCache, AChangedDefinitionIsReadAgain) {
  DefinitionCache cache;
  const auto first = std::make_shared<const JobDefinition>(*parse_register(definition_body()));
  const auto parsed_first = *cache.get(first);
  EXPECT_EQ(*cache.get(first), parsed_first);
  JobDefinition changed = *first;
  changed.tags = {{"teson:grace-seconds", "7"}};
  const auto again = *cache.get(std::make_shared<const JobDefinition>(changed));
  EXPECT_EQ(again->extensions.grace, Duration::seconds(7));
}

TEST(JobIds, AreVersion4AndDiffer) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = random_job_id().text();
    EXPECT_EQ(id[14], '4');
    EXPECT_THAT(std::string("89ab"), HasSubstr(std::string(1, id[19])));
    seen.insert(id);
  }
  EXPECT_EQ(seen.size(), 1000u);
}

}  // namespace
}  // namespace teson::batch
