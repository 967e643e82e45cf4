#include "cli/run_request.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace teson::cli {
namespace {

RunOptions options() {
  RunOptions run;
  run.command = {"python3", "train.py", "--epochs", "3"};
  return run;
}

// Without the order of fields, which means nothing.
nlohmann::json plain(const Json& value) { return nlohmann::json::parse(json_line(value)); }

std::string refusal(const RunOptions& run) {
  const auto request = submit_request(run, "/home/ana");
  if (request) return "accepted";
  EXPECT_EQ(request.error().kind, FailureKind::kUsage);
  return request.error().message;
}

TEST(SubmitRequest, HasPlainDefaults) {
  const auto request = submit_request(options(), "/home/ana");
  ASSERT_TRUE(request);
  EXPECT_EQ(plain(*request), nlohmann::json::parse(R"({
    "jobName": "train", "jobQueue": "default", "jobDefinition": "teson-run",
    "containerOverrides": {
      "command": ["python3", "train.py", "--epochs", "3"], "environment": [],
      "resourceRequirements": [{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "2048"}]},
    "retryStrategy": {"attempts": 1},
    "tags": {"teson:working-directory": "/home/ana"}})"));
}

TEST(SubmitRequest, CarriesEveryFlag) {
  RunOptions run = options();
  run.name = "night-run_2";
  run.spot = true;
  run.vcpus = "0.5";
  run.memory = "1.5GiB";
  run.gpus = 2;
  run.retries = 3;
  run.max_run = "1h30m";
  run.grace = "45s";
  run.environment = {"A=1", "EMPTY=", "EQUALS=a=b"};
  run.working_directory = "data/../runs/";
  const auto request = submit_request(run, "/home/ana");
  ASSERT_TRUE(request);
  EXPECT_EQ(plain(*request), nlohmann::json::parse(R"({
    "jobName": "night-run_2", "jobQueue": "spot", "jobDefinition": "teson-run",
    "containerOverrides": {
      "command": ["python3", "train.py", "--epochs", "3"],
      "environment": [{"name": "A", "value": "1"}, {"name": "EMPTY", "value": ""}, {"name": "EQUALS", "value": "a=b"}],
      "resourceRequirements": [{"type": "VCPU", "value": "0.5"}, {"type": "MEMORY", "value": "1536"},
                               {"type": "GPU", "value": "2"}]},
    "retryStrategy": {"attempts": 4},
    "timeout": {"attemptDurationSeconds": 5400},
    "tags": {"teson:working-directory": "/home/ana/runs", "teson:grace-seconds": "45", "teson:interruptions": "free"}})"));
}

TEST(SubmitRequest, FreshWorkingDirectoryNeedsNoTag) {
  RunOptions run = options();
  run.working_directory = "fresh";
  EXPECT_EQ(submit_request(run, "/home/ana")->at("tags"), Json::object());
}

TEST(SubmitRequest, TakesAVariableFromHere) {
  RunOptions run = options();
  setenv("TESON_TEST_VARIABLE", "here", 1);
  run.environment = {"TESON_TEST_VARIABLE"};
  EXPECT_EQ(submit_request(run, "/")->at("containerOverrides").at("environment"),
            Json::parse(R"([{"name": "TESON_TEST_VARIABLE", "value": "here"}])"));
  unsetenv("TESON_TEST_VARIABLE");
  EXPECT_EQ(refusal(run), "--env: TESON_TEST_VARIABLE is not set here; write --env TESON_TEST_VARIABLE=value");
}

TEST(SubmitRequest, SaysWhichFlagIsWrongAndWhatWouldBeRight) {
  const auto with = [](auto change) {
    RunOptions run = options();
    change(run);
    return refusal(run);
  };
  EXPECT_EQ(with([](RunOptions& r) { r.memory = "4096"; }),
            "--memory: '4096' is not a memory size; write it like 4GiB, 4096MiB or 4G");
  EXPECT_EQ(with([](RunOptions& r) { r.memory = "2MiB"; }), "--memory: '2MiB' is too small; at least 4MiB");
  EXPECT_EQ(with([](RunOptions& r) { r.vcpus = "many"; }),
            "--vcpus: 'many' is not a number of vCPUs; write it like 2 or 0.25");
  EXPECT_EQ(with([](RunOptions& r) { r.gpus = -1; }), "--gpus: -1 is not a number of GPUs; 0 or more");
  EXPECT_EQ(with([](RunOptions& r) { r.retries = 10; }), "--retries: 10 is out of range; 0 to 9");
  EXPECT_EQ(with([](RunOptions& r) { r.max_run = "59s"; }), "--max-run: '59s' is too short; at least 60s");
  EXPECT_EQ(with([](RunOptions& r) { r.max_run = "8"; }),
            "--max-run: '8' is not a duration; write it like 90s, 8h or 1h30m (units d, h, m, s)");
  EXPECT_EQ(with([](RunOptions& r) { r.grace = "61m"; }), "--grace: '61m' is too long; at most 1h");
  EXPECT_EQ(with([](RunOptions& r) { r.environment = {"=x"}; }), "--env: '=x' has no name; write it like NAME=value");
  EXPECT_EQ(with([](RunOptions& r) { r.environment = {"AWS_BATCH_X=1"}; }),
            "--env: 'AWS_BATCH_X': names that begin with AWS_BATCH are reserved");
  EXPECT_EQ(with([](RunOptions& r) { r.name = "no spaces"; }),
            "--name: 'no spaces' is not a job name; it is 1 to 128 letters, digits, '-' and '_', the first a letter or "
            "digit");
  EXPECT_EQ(with([](RunOptions& r) { r.name = "-x"; }).substr(0, 12), "--name: '-x'");
  EXPECT_EQ(with([](RunOptions& r) { r.command = {}; }),
            "run: no command; write it after '--': teson run -- python3 train.py");
  EXPECT_EQ(with([](RunOptions& r) { r.command = {""}; }), "run: the command's first word, the program, is empty");
  EXPECT_EQ(with([](RunOptions& r) { r.command = {"echo", "\xff"}; }), "run: '\\xff' in the command is not UTF-8");
  EXPECT_EQ(with([](RunOptions& r) { r.working_directory = "/" + std::string(300, 'a'); }).substr(0, 13),
            "--workdir: '/");
  EXPECT_EQ(with([](RunOptions& r) { r.image = ""; }), "--image: is empty; 'host' is this machine's own file system");
}

TEST(SubmitRequest, SpotAndQueueExcludeEachOther) {
  RunOptions run = options();
  run.spot = true;
  run.queue = "nightly";
  EXPECT_EQ(refusal(run).substr(0, 18), "--spot and --queue");
}

TEST(SubmitRequest, NamesAtTheirLimit) {
  RunOptions run = options();
  run.name = std::string(128, 'n');
  EXPECT_EQ(refusal(run), "accepted");
  run.name += "n";
  EXPECT_NE(refusal(run), "accepted");
}

TEST(NameFromCommand, SaysWhatRuns) {
  EXPECT_EQ(name_from_command({"python3", "-u", "/srv/train.py"}), "train");
  EXPECT_EQ(name_from_command({"/usr/bin/python3.11", "-m", "torch.distributed.run", "x"}), "torch-distributed-run");
  EXPECT_EQ(name_from_command({"python3", "-c", "print(1)"}), "python3");
  EXPECT_EQ(name_from_command({"bash", "my script!.sh"}), "my-script");
  EXPECT_EQ(name_from_command({"make", "all"}), "make");
  EXPECT_EQ(name_from_command({"./_+_"}), "job");
  EXPECT_EQ(name_from_command({std::string(300, 'x')}).size(), 128u);
}

TEST(DefinitionName, IsOnePerImage) {
  EXPECT_EQ(definition_name("host"), "teson-run");
  const std::string image = definition_name("registry/a:1");
  EXPECT_EQ(image.substr(0, 23), "teson-run-registry-a-1-");
  EXPECT_EQ(image.size(), 23u + 8u);
  EXPECT_NE(image, definition_name("registry-a-1"));
  EXPECT_LE(definition_name(std::string(400, 'i')).size(), 128u);
}

TEST(RegisterRequest, NamesTheImage) {
  EXPECT_EQ(plain(register_request("host")), nlohmann::json::parse(R"({
    "jobDefinitionName": "teson-run", "type": "container",
    "containerProperties": {"image": "host", "resourceRequirements": [
      {"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "2048"}]}})"));
}

}  // namespace
}  // namespace teson::cli
