// Array jobs on the command line, from the words typed to what is printed, against a stand-in server.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "cli/cli_testing.h"

namespace teson::cli {
namespace {

const std::string kId = FakeBatch::kJob;

Json child(int index, const char* status, int exit_code) {
  Json out = Json::object({{"jobId", kId + ":" + std::to_string(index)}, {"jobName", "digits"}, {"status", status}});
  out["arrayProperties"] = Json::object({{"size", 100}, {"index", index}});
  out["statusReason"] = "Essential container in task exited";
  out["container"] = Json::object({{"exitCode", exit_code}, {"logStreamName", "s/" + std::to_string(index)}});
  out["attempts"] =
      Json::array({Json::object({{"startedAt", 1000}, {"stoppedAt", 2000}, {"container", out["container"]}})});
  return out;
}

void set_summary(FakeBatch& fake, int pending, int running, int succeeded, int failed) {
  fake.detail["arrayProperties"] = Json::object({{"size", 100},
                                                 {"statusSummary", Json::object({{"SUBMITTED", 0},
                                                                                 {"PENDING", pending},
                                                                                 {"RUNNABLE", 0},
                                                                                 {"STARTING", 0},
                                                                                 {"RUNNING", running},
                                                                                 {"SUCCEEDED", succeeded},
                                                                                 {"FAILED", failed}})}});
}

// Pending at the first look, ended at the second: children 20, 21, ... failed with exit code 3.
void one_array(FakeBatch& fake, int describes, int failed) {
  fake.detail["jobArn"] = "arn:aws:batch:us-east-1:123456789012:job/" + kId;
  fake.detail["status"] = "PENDING";
  set_summary(fake, 92, 8, 0, 0);
  if (describes == 1) return;
  set_summary(fake, 0, 0, 100 - failed, failed);
  fake.detail["status"] = failed == 0 ? "SUCCEEDED" : "FAILED";
  if (failed > 0) fake.detail["statusReason"] = "Array Child Job failed";
  fake.children[0] = child(0, "SUCCEEDED", 0);
  for (int i = 0; i < failed; ++i) fake.children[20 + i] = child(20 + i, "FAILED", i == 0 ? 3 : 4);
}

TEST_F(Cli, AnArrayIsFollowedToItsFirstFailures) {
  FakeBatch batch([](FakeBatch& fake, int describes) { one_array(fake, describes, 12); });
  attach(batch);
  const Ran ran = run({"run", "--array", "0-99%8", "--workdir", "/", "--", "python3", "sweep.py"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.out, "");
  std::string expected = "teson: digits is job " + kId + "\n" +
                         "digits (1f3c0000): 0 of 100 ended, 0 failed, 8 running, 92 waiting\n"
                         "digits (1f3c0000): 100 of 100 ended, 12 failed, 0 running, 0 waiting\n"
                         "teson: digits (1f3c0000) FAILED: 12 of 100 children failed\n"
                         "CHILD        ATTEMPTS  EXIT  REASON\n"
                         "1f3c0000:20         1     3  exit code 3\n";
  for (int i = 21; i < 30; ++i) expected += "1f3c0000:" + std::to_string(i) + "         1     4  exit code 4\n";
  expected += "  all of them:    teson jobs --data " + data_ + " --array 1f3c0000 --status FAILED\n" +
              "  the log of one: teson logs --data " + data_ + " 1f3c0000:20\n" +
              "  run them again: teson rerun --data " + data_ + " --failed 1f3c0000\n";
  EXPECT_EQ(ran.err, expected);
  const Json submitted = batch.requests_to("/v1/submitjob").at(0);
  EXPECT_EQ(submitted["arrayProperties"], Json::object({{"size", 100}}));
  EXPECT_EQ(submitted["tags"]["teson:array-throttle"], "8");
  EXPECT_FALSE(submitted.contains("dependsOn"));
}

TEST_F(Cli, AnArrayThatSucceededIsZeroAndSaysHowMany) {
  FakeBatch batch([](FakeBatch& fake, int describes) { one_array(fake, describes, 0); });
  attach(batch);
  const Ran ran = run({"run", "--array", "0-99", "--", "true"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_TRUE(ran.err.ends_with("digits (1f3c0000): 100 of 100 ended, 0 failed, 0 running, 0 waiting\n")) << ran.err;
  EXPECT_FALSE(batch.requests_to("/v1/submitjob").at(0)["tags"].contains("teson:array-throttle"));
}

TEST_F(Cli, AnArrayInJsonIsItsDescriptionAndItsFirstFailures) {
  FakeBatch batch([](FakeBatch& fake, int describes) { one_array(fake, describes, 2); });
  attach(batch);
  const Ran ran = run({"run", "--array", "0-99", "--output", "json", "--", "true"});
  EXPECT_EQ(ran.code, 3);
  const Json said = Json::parse(ran.out);
  EXPECT_EQ(said["job"], batch.detail_now());
  EXPECT_EQ(said["firstFailures"], Json::array({child(20, "FAILED", 3), child(21, "FAILED", 4)}));
}

TEST_F(Cli, AnArrayThatWaitsSaysWhatFor) {
  FakeBatch batch([](FakeBatch& fake, int describes) {
    one_array(fake, describes, 0);
    if (describes == 1) set_summary(fake, 100, 0, 0, 0);
    if (describes == 1) fake.detail["statusReason"] = "Waits for job x";
  });
  attach(batch);
  const Ran ran = run({"run", "--array", "0-99", "--", "true"});
  EXPECT_NE(ran.err.find("0 failed, 0 running, 100 waiting (Waits for job x)\n"), std::string::npos) << ran.err;
}

TEST_F(Cli, FollowingAnArrayOutlastsItsServer) {
  FakeBatch batch([](FakeBatch& fake, int describes) {
    one_array(fake, describes < 3 ? 1 : 2, 0);
    if (describes == 1) fake.hang_up = 3;
  });
  attach(batch);
  const Ran ran = run({"run", "--array", "0-99", "--", "true"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.err.find("waiting for it (Ctrl-C stops following, the job goes on)\nteson: the server is back\n"),
            std::string::npos)
      << ran.err;
}

TEST_F(Cli, CtrlCStopsFollowingAnArrayNotTheArray) {
  FakeBatch batch([](FakeBatch& fake, int describes) {
    one_array(fake, 1, 0);
    if (describes == 2) ::kill(::getpid(), SIGINT);
  });
  attach(batch);
  const Ran ran = run({"run", "--array", "0-99", "--", "sleep", "1000"});
  EXPECT_EQ(ran.code, 130);
  EXPECT_NE(ran.err.find("follow it again: teson show --data " + data_ + " 1f3c0000\n"), std::string::npos) << ran.err;
  EXPECT_TRUE(batch.requests_to("/v1/terminatejob").empty());
}

TEST_F(Cli, CtrlCStopsTheArrayWhereThatWasAskedFor) {
  FakeBatch batch([](FakeBatch& fake, int describes) {
    one_array(fake, describes < 4 ? 1 : 2, 1);
    if (describes == 2) ::kill(::getpid(), SIGINT);
  });
  attach(batch);
  EXPECT_EQ(run({"run", "--array", "0-99", "--stop-on-interrupt", "--", "sleep", "1000"}).code, 3);
  EXPECT_EQ(batch.requests_to("/v1/terminatejob").at(0)["jobId"], kId);
}

TEST_F(Cli, RunSendsEachKindOfDependency) {
  FakeBatch batch([](FakeBatch&, int) {});
  attach(batch);
  const auto sent = [&](std::vector<std::string> flags) {
    std::vector<std::string> words = {"run", "--detach", "--array", "0-9"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"--", "true"});
    EXPECT_EQ(run(words).code, 0);
    const Json request = batch.requests_to("/v1/submitjob").back();
    return request["dependsOn"].dump() + (request["tags"].contains("teson:after") ? " any" : "");
  };
  const std::string other = "22aa44bb-0000-4000-8000-000000000002";
  EXPECT_EQ(sent({"--after", kId, "--after", other + ":7"}),
            R"([{"jobId":")" + kId + R"("},{"jobId":")" + other + R"(:7"}])");
  EXPECT_EQ(sent({"--after-any", kId}), R"([{"jobId":")" + kId + R"("}] any)");
  EXPECT_EQ(sent({"--each-after", other, "--sequential"}),
            R"([{"jobId":")" + other + R"(","type":"N_TO_N"},{"type":"SEQUENTIAL"}])");
  EXPECT_EQ(sent({"--each-after-any", other}), R"([{"jobId":")" + other + R"(","type":"N_TO_N"}] any)");
  EXPECT_EQ(sent({"--sequential-any"}), R"([{"type":"SEQUENTIAL"}] any)");
}

TEST_F(Cli, RunRefusesArraysThatCouldNotBe) {
  const auto refused = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "run");
    words.insert(words.end(), {"--", "true"});
    const Ran ran = run(std::move(words));
    EXPECT_EQ(ran.code, 252) << ran.err;
    return ran.err.substr(0, ran.err.find('\n'));
  };
  EXPECT_EQ(refused({"--array", "1-10"}),
            "teson: --array: '1-10' does not begin with 0, as Batch's indexes do; 10 children are 0-9");
  EXPECT_EQ(refused({"--sequential"}), "teson: --sequential: is about an array's children; give --array 0-N too");
  EXPECT_EQ(refused({"--each-after", kId}), "teson: --each-after: is about an array's children; give --array 0-N too");
  EXPECT_EQ(refused({"--after", kId, "--after-any", kId}),
            "teson: --after, --each-after and --sequential cannot be mixed with --after-any, --each-after-any and "
            "--sequential-any: a job waits either for success or for any end");
}

TEST_F(Cli, RerunSubmitsTheArrayAgainWithTheTag) {
  FakeBatch batch([](FakeBatch& fake, int) { one_array(fake, 2, 7); });
  batch.detail["container"] = Json::object({{"command", Json::array({"python3", "sweep.py"})}});
  batch.detail["tags"] = Json::object({{"team", "a"}});
  attach(batch);
  const Ran ran = run({"rerun", "--failed", kId, "--detach"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, kId + "\n");
  const Json request = batch.requests_to("/v1/submitjob").at(0);
  EXPECT_EQ(request["containerOverrides"]["command"], Json::array({"python3", "sweep.py"}));
  EXPECT_EQ(request["tags"], Json::object({{"team", "a"}, {"teson:rerun-of", kId}}));
  EXPECT_EQ(run({"rerun", "--failed", kId}).code, 3);
  EXPECT_EQ(run({"rerun", kId}).err,
            "teson: rerun: the failed children are what runs again; say so: teson rerun --failed ID\n");
}

TEST_F(Cli, ThrottleTagsTheArray) {
  FakeBatch batch([](FakeBatch& fake, int) { one_array(fake, 1, 0); });
  attach(batch);
  const Ran ran = run({"throttle", kId, "8"});
  EXPECT_EQ(ran.out, "digits (1f3c0000): at most 8 at once; children that run go on\n") << ran.err;
  EXPECT_EQ(run({"throttle", kId, "0"}).out, "digits (1f3c0000): as many children at once as there is room for\n");
  EXPECT_EQ(Json::parse(run({"throttle", kId, "9", "--output", "json"}).out),
            Json::object({{"jobId", kId}, {"throttle", 9}}));
  const auto tagged = batch.requests_to("/v1/tags/arn%3Aaws%3Abatch%3Aus-east-1%3A123456789012%3Ajob%2F" + kId);
  ASSERT_EQ(tagged.size(), 3u);
  EXPECT_EQ(tagged[0], Json::parse(R"({"tags": {"teson:array-throttle": "8"}})"));
  EXPECT_EQ(run({"throttle", kId, "many"}).code, 252);
}

TEST_F(Cli, ThrottleOfWhatIsNoArrayIsRefused) {
  FakeBatch batch([](FakeBatch&, int) {});
  attach(batch);
  const Ran ran = run({"throttle", kId, "8"});
  EXPECT_EQ(ran.code, 252);
  EXPECT_EQ(ran.err, "teson: throttle: digits (1f3c0000) is not an array; only a whole array has a throttle\n");
}

TEST_F(Cli, ChildrenAreListedByIndex) {
  FakeBatch batch([](FakeBatch&, int) {});
  batch.children[0] = child(0, "SUCCEEDED", 0);
  for (int i = 0; i < 12; ++i) batch.children[20 + i] = child(20 + i, "FAILED", 3);
  batch.children[5] = child(5, "RUNNING", 0);
  batch.children[30] = child(30, "SUCCEEDED", 0);
  attach(batch);
  const auto listed = [&](std::vector<std::string> flags) {
    std::vector<std::string> words = {"jobs", "--output", "json", "--array", kId};
    words.insert(words.end(), flags.begin(), flags.end());
    std::string indexes;
    const Json answer = Json::parse(run(words).out);
    for (const Json& job : array_field(answer, "jobs")) {
      indexes += (indexes.empty() ? "" : " ") + std::to_string(*int_field(job["arrayProperties"], "index"));
    }
    return indexes;
  };
  EXPECT_EQ(listed({"--status", "failed", "--limit", "3"}), "20 21 22");
  EXPECT_EQ(listed({"--limit", "2"}), "0 5");
  EXPECT_EQ(listed({"--all", "--status", "succeeded"}), "0 30");
  const Ran table = run({"jobs", "--array", kId, "--limit", "2", "--status", "FAILED"});
  EXPECT_NE(table.out.find("\n1f3c0000:20  digits "), std::string::npos) << table.out;
  EXPECT_NE(table.err.find("there are more"), std::string::npos);
  EXPECT_EQ(run({"jobs", "--array", kId, "--queue", "spot"}).code, 252);
}

TEST_F(Cli, ShowOfAnArrayHasItsSummaryAndFirstFailures) {
  FakeBatch batch([](FakeBatch& fake, int) { one_array(fake, 2, 12); });
  batch.detail["tags"] = Json::object({{"teson:array-throttle", "8"}});
  attach(batch);
  const Ran ran = run({"show", kId});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("array        100 children, at most 8 at once\n"
                         "children     100 of 100 ended, 12 failed, 0 running, 0 waiting\n"),
            std::string::npos)
      << ran.out;
  EXPECT_NE(ran.out.find("\n1f3c0000:29         1     4  exit code 4\n"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("1f3c0000:30"), std::string::npos);
  EXPECT_EQ(ran.err, "teson: 12 children failed in all: teson jobs --array 1f3c0000 --status FAILED\n");
}

TEST_F(Cli, AChildIsNamedByItsIndexEverywhere) {
  FakeBatch batch([](FakeBatch& fake, int) { one_array(fake, 2, 12); });
  batch.streams["s/21"] = {"epoch 1"};
  attach(batch);
  const std::string id = kId + ":21";
  const Ran shown = run({"show", id});
  EXPECT_NE(shown.out.find("array        child 21 of 0 to 99 of " + kId + "\n"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find(data_ + "/attempts/" + kId + ".21/1/stdout.log\n"), std::string::npos) << shown.out;
  EXPECT_EQ(run({"logs", id}).out, "epoch 1\n");
  EXPECT_EQ(run({"stop", id}).out, "digits (1f3c0000:21): FAILED\n");
  EXPECT_EQ(batch.requests_to("/v1/terminatejob").at(0)["jobId"], id);
  EXPECT_EQ(run({"logs", kId + ":021"}).err, "teson: '" + kId +
                                                 ":021' is not a job id; a child of an array is its id, ':' and an "
                                                 "index from 0 to 9999: " +
                                                 kId + ":0\n");
}

TEST_F(Cli, LogsOfAWholeArrayAreRefusedAndPointToAChild) {
  FakeBatch batch([](FakeBatch& fake, int) { one_array(fake, 1, 0); });
  attach(batch);
  for (const std::vector<std::string>& words : {std::vector<std::string>{"logs", kId}, {"logs", "-f", kId}}) {
    const Ran ran = run(words);
    EXPECT_EQ(ran.code, 252);
    EXPECT_EQ(ran.err,
              "teson: digits (1f3c0000) is an array of 100 children, and each has a log of its own: teson logs "
              "1f3c0000:0\n");
  }
}

}  // namespace
}  // namespace teson::cli
