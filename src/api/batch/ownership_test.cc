// Whose jobs and definitions are whose, through the Batch face.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/batch/batch_world_testing.h"

namespace teson::batch {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const Caller kAna{"ana", Role::kUser};
const Caller kBo{"bo", Role::kUser};
const Caller kChief{"chief", Role::kAdmin};

class OwnershipTest : public testing::Test {
 protected:
  OwnershipTest() { world.set_up(); }

  std::string submit_as(const Caller& caller, Json changes = Json::object()) {
    world.act_as(caller);
    return world.submit(std::move(changes));
  }
  Answer as(const Caller& caller, const std::string& operation, const Json& body) {
    world.act_as(caller);
    return world.post(operation, body);
  }
  static void expect_denied(const Answer& answer, const std::string& user, const std::string& action) {
    EXPECT_EQ(answer.status, 403) << answer.body.dump();
    EXPECT_EQ(answer.error_type, "AccessDeniedException");
    EXPECT_THAT(answer.body.value("message", ""), AllOf(HasSubstr("User: " + user), HasSubstr("batch:" + action)));
  }
  static Json tags_of(const Json& job) { return job.at("tags"); }
  static std::string tags_path(const std::string& job) {
    return "/v1/tags/arn%3Aaws%3Abatch%3Aus-east-1%3A123456789012%3Ajob%2F" + job;
  }
  static Json definition(const std::string& name) {
    const Json needs = {{{"type", "VCPU"}, {"value", "1"}}, {{"type", "MEMORY"}, {"value", "512"}}};
    return {{"jobDefinitionName", name},
            {"type", "container"},
            {"containerProperties", {{"image", "host"}, {"command", {"true"}}, {"resourceRequirements", needs}}}};
  }

  BatchWorld world;
};

TEST_F(OwnershipTest, AJobShowsItsOwnerAndTheFirstUsersShowsNone) {
  const std::string first = world.submit({{"tags", {{"k", "v"}}}});
  const std::string anas = submit_as(kAna, {{"tags", {{"k", "v"}}}});
  world.act_as(kBo);
  EXPECT_EQ(tags_of(world.describe(first)), (Json{{"k", "v"}}));
  EXPECT_EQ(tags_of(world.describe(anas)), (Json{{"k", "v"}, {"teson:owner", "ana"}}));
  EXPECT_EQ(world.send("GET", tags_path(anas), "", "").body.at("tags"), (Json{{"k", "v"}, {"teson:owner", "ana"}}));
}

TEST_F(OwnershipTest, OnlyItsOwnerAndAdminsStopAJob) {
  for (const char* operation : {"canceljob", "terminatejob"}) {
    const std::string action = operation == std::string("canceljob") ? "CancelJob" : "TerminateJob";
    const std::string job = submit_as(kAna);
    const Json body = {{"jobId", job}, {"reason", "r"}};
    expect_denied(as(kBo, operation, body), "bo", action);
    EXPECT_NE(world.describe(job).at("status"), "FAILED");
    EXPECT_EQ(as(kAna, operation, body).status, 200);
    const std::string another = submit_as(kAna);
    EXPECT_EQ(as(kChief, operation, {{"jobId", another}, {"reason", "r"}}).status, 200);
  }
  const std::string first = submit_as(Caller{});
  expect_denied(as(kAna, "terminatejob", {{"jobId", first}, {"reason", "r"}}), "ana", "TerminateJob");
}

TEST_F(OwnershipTest, AnArraysChildrenAreItsOwners) {
  const std::string array = submit_as(kAna, {{"arrayProperties", {{"size", 8}}}});
  for (const char* child : {":0", ":7"}) {  // 4 vCPUs: the last one waits
    expect_denied(as(kBo, "terminatejob", {{"jobId", array + child}, {"reason", "r"}}), "bo", "TerminateJob");
    EXPECT_EQ(tags_of(world.describe(array + child)), (Json{{"teson:owner", "ana"}}));
  }
  EXPECT_EQ(as(kAna, "terminatejob", {{"jobId", array + ":7"}, {"reason", "r"}}).status, 200);
}

TEST_F(OwnershipTest, OnlyItsOwnerAndAdminsTagAJob) {
  const std::string job = submit_as(kAna);
  world.act_as(kBo);
  expect_denied(world.send("POST", tags_path(job), "", R"({"tags":{"a":"b"}})"), "bo", "TagResource");
  expect_denied(world.send("DELETE", tags_path(job), "tagKeys=a", ""), "bo", "UntagResource");
  world.act_as(kAna);
  EXPECT_EQ(world.send("POST", tags_path(job), "", R"({"tags":{"a":"b"}})").status, 200);
  EXPECT_EQ(tags_of(world.describe(job)), (Json{{"a", "b"}, {"teson:owner", "ana"}}));
}

TEST_F(OwnershipTest, TheOwnerTagIsTheServersOwn) {
  const std::string job = submit_as(kAna);
  for (const Answer& answer :
       {world.send("POST", tags_path(job), "", R"({"tags":{"teson:owner":"bo"}})"),
        world.send("DELETE", tags_path(job), "tagKeys=teson%3Aowner", ""),
        world.post(
            "submitjob",
            {{"jobName", "j"}, {"jobQueue", "main"}, {"jobDefinition", "train"}, {"tags", {{"teson:owner", "bo"}}}})}) {
    EXPECT_EQ(answer.status, 400);
    EXPECT_THAT(answer.body.value("message", ""), HasSubstr("teson:owner"));
  }
  // What was described may be submitted again by the same user.
  const std::string again = world.submit({{"tags", {{"teson:owner", "ana"}}}});
  EXPECT_EQ(tags_of(world.describe(again)), (Json{{"teson:owner", "ana"}}));
}

TEST_F(OwnershipTest, DefinitionsAreTheirOwners) {
  expect_denied(as(kAna, "registerjobdefinition", definition("train")), "ana", "RegisterJobDefinition");
  expect_denied(as(kAna, "deregisterjobdefinition", {{"jobDefinition", "train:1"}}), "ana", "DeregisterJobDefinition");
  EXPECT_EQ(as(kAna, "registerjobdefinition", definition("anas")).status, 200);
  expect_denied(as(kBo, "registerjobdefinition", definition("anas")), "bo", "RegisterJobDefinition");
  // Others use it.
  EXPECT_FALSE(submit_as(kBo, {{"jobDefinition", "anas"}}).empty());
  EXPECT_EQ(as(kChief, "registerjobdefinition", definition("train")).status, 200);
  EXPECT_EQ(as(kAna, "deregisterjobdefinition", {{"jobDefinition", "anas:1"}}).status, 200);
  // No active revision: the name is free.
  EXPECT_EQ(as(kBo, "registerjobdefinition", definition("anas")).body.at("revision"), 2);
}

TEST_F(OwnershipTest, WhatBelongsToNobodyIsTaggedByAdmins) {
  const std::string queue = "/v1/tags/arn%3Aaws%3Abatch%3Aus-east-1%3A123456789012%3Ajob-queue%2Fmain";
  world.act_as(kAna);
  expect_denied(world.send("POST", queue, "", R"({"tags":{"a":"b"}})"), "ana", "TagResource");
  world.act_as(kChief);
  EXPECT_EQ(world.send("POST", queue, "", R"({"tags":{"a":"b"}})").status, 200);
}

}  // namespace
}  // namespace teson::batch
