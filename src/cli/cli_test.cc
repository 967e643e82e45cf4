// Whole commands, from the words typed to what is printed, against a stand-in server.
#include "cli/cli.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "cli/cli_testing.h"
#include "cli/program_output.h"

namespace teson::cli {
namespace {

void nothing(FakeBatch&, int) {}

// The job starts at the first look, and has ended at the second.
void one_attempt(FakeBatch& fake, int describes, int exit_code) {
  fake.detail["container"] = Json::object({{"logStreamName", "s/1"}});
  fake.detail["status"] = "RUNNING";
  if (describes == 1) return;
  fake.streams["s/1"] = {"epoch 1", "no newline"};
  fake.detail["status"] = exit_code == 0 ? "SUCCEEDED" : "FAILED";
  fake.detail["statusReason"] = "Essential container in task exited";
  fake.detail["container"]["exitCode"] = exit_code;
  fake.detail["attempts"] =
      Json::array({Json::object({{"startedAt", 1},
                                 {"stoppedAt", 2},
                                 {"container", Json::object({{"exitCode", exit_code}, {"logStreamName", "s/1"}})}})});
}

TEST_F(Cli, RunPassesOutputAndExitCodeThrough) {
  FakeBatch batch([](FakeBatch& fake, int describes) { one_attempt(fake, describes, 3); });
  attach(batch);
  const Ran ran = run({"run", "--workdir", "/", "--", "python3", "train.py", "--data", "x", "--", "y"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.out, "epoch 1\nno newline\n");
  EXPECT_NE(ran.err.find("digits (1f3c0000) FAILED after 1 attempt: exit code 3\n"), std::string::npos);
  const auto submitted = batch.requests_to("/v1/submitjob");
  ASSERT_EQ(submitted.size(), 1u);
  EXPECT_EQ(submitted[0]["containerOverrides"]["command"],
            Json::parse(R"(["python3", "train.py", "--data", "x", "--", "y"])"));
  EXPECT_EQ(batch.requests_to("/v1/registerjobdefinition").size(), 1u);
}

TEST_F(Cli, RunOfASuccessIsZero) {
  FakeBatch batch([](FakeBatch& fake, int describes) { one_attempt(fake, describes, 0); });
  attach(batch);
  EXPECT_EQ(run({"run", "--", "true"}).code, 0);
}

TEST_F(Cli, CtrlCStopsFollowingNotTheJob) {
  FakeBatch batch([](FakeBatch& fake, int describes) {
    one_attempt(fake, 1, 0);
    if (describes == 2) ::kill(::getpid(), SIGINT);
  });
  attach(batch);
  const Ran ran = run({"run", "--", "sleep", "1000"});
  EXPECT_EQ(ran.code, 130);
  EXPECT_NE(ran.err.find("the job goes on\n  follow it again: teson logs -f --data " + data_ + " 1f3c0000\n"),
            std::string::npos)
      << ran.err;
  EXPECT_TRUE(batch.requests_to("/v1/terminatejob").empty());
}

TEST_F(Cli, CtrlCStopsTheJobWhereThatWasAskedFor) {
  FakeBatch batch([](FakeBatch& fake, int describes) {
    one_attempt(fake, describes < 4 ? 1 : 2, 143);
    if (describes == 2) ::kill(::getpid(), SIGINT);
  });
  attach(batch);
  const Ran ran = run({"run", "--stop-on-interrupt", "--", "sleep", "1000"});
  EXPECT_EQ(ran.code, 143);
  EXPECT_EQ(batch.requests_to("/v1/terminatejob").size(), 1u);
}

TEST_F(Cli, DetachedRunPrintsTheIdAlone) {
  FakeBatch batch(nothing);
  attach(batch);
  const Ran ran = run({"run", "--detach", "--", "true"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, std::string(FakeBatch::kJob) + "\n");
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(Json::parse(run({"run", "--detach", "--output", "json", "--", "true"}).out)["jobId"], FakeBatch::kJob);
}

TEST_F(Cli, RunSendsDependenciesByWholeId) {
  FakeBatch batch(nothing);
  attach(batch);
  ASSERT_EQ(run({"run", "--detach", "--after", "1F3C0000-0000-4000-8000-000000000001", "--", "true"}).code, 0);
  EXPECT_EQ(batch.requests_to("/v1/submitjob").at(0)["dependsOn"],
            Json::parse(R"([{"jobId": "1f3c0000-0000-4000-8000-000000000001"}])"));
}

TEST_F(Cli, RunRefusesBeforeItTouchesAServer) {
  const auto refused = [&](std::vector<std::string> words) {
    const Ran ran = run(std::move(words));
    EXPECT_EQ(ran.code, 252) << ran.err;
    return ran.err.substr(0, ran.err.find('\n'));
  };
  EXPECT_EQ(refused({"run"}), "teson: run: no command; write it after '--': teson run -- python3 train.py");
  EXPECT_EQ(refused({"run", "train.py"}), "teson: run: the command comes after '--': teson run -- python3 train.py");
  EXPECT_EQ(refused({"run", "--memory", "4", "--", "true"}),
            "teson: --memory: '4' is not a memory size; write it like 4GiB, 4096MiB or 4G");
  EXPECT_EQ(refused({"run", "--nodes", "2", "--", "true"}),
            "teson: --nodes 2: comes with a later version; run without it");
  EXPECT_EQ(refused({"run", "--workdir", "/no/such", "--", "true"}),
            "teson: --workdir: '/no/such' is not a directory here; 'fresh' gives each attempt its own");
  EXPECT_FALSE(std::filesystem::exists(data_ + "/server.log"));
}

TEST_F(Cli, UsageErrorsAre252AndPointToHelp) {
  const auto mistyped = run({"job"});
  EXPECT_EQ(mistyped.code, 252);
  EXPECT_NE(mistyped.err.find("there is no command 'job'; the commands are run, jobs,"), std::string::npos)
      << mistyped.err;
  EXPECT_EQ(run({}).code, 252);
  EXPECT_EQ(run({"jobs", "--status", "DONE"}).code, 252);
  EXPECT_EQ(run({"jobs", "--output", "yaml"}).code, 252);
  EXPECT_EQ(run({"show"}).code, 252);
  EXPECT_EQ(run({"jobs", "--", "x"}).code, 252);
  EXPECT_NE(run({"logs", "--tail", "-1", "1f3c"}).err.find("see 'teson logs --help'"), std::string::npos);
}

TEST_F(Cli, WithoutAServerSaysHowToStartOne) {
  const Ran ran = run({"jobs"});
  EXPECT_EQ(ran.code, 255);
  EXPECT_NE(ran.err.find("start one with 'teson serve --data " + data_), std::string::npos);
}

TEST_F(Cli, ServiceErrorsAre254) {
  HttpStandIn server([](const StandInRequest&) {
    return StandInAnswer{403, R"({"message": "bad"})", {{"x-amzn-errortype", "InvalidSignatureException"}}};
  });
  ::setenv("AWS_ACCESS_KEY_ID", "k", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "very-hidden", 1);
  const Ran ran = run({"jobs", "--endpoint", server.endpoint()});
  EXPECT_EQ(ran.code, 254);
  EXPECT_EQ(ran.err, "teson: DescribeJobQueues: InvalidSignatureException: bad\n");
}

TEST_F(Cli, EnvIsReadBackByAShell) {
  FakeBatch batch(nothing);
  attach(batch);
  const Ran ran = run({"env"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto read = program_output({"/bin/sh", "-c",
                                    ran.out + "\necho \"$AWS_ENDPOINT_URL $AWS_ACCESS_KEY_ID "
                                              "$AWS_SECRET_ACCESS_KEY $AWS_DEFAULT_REGION $AWS_REGION\""},
                                   Duration::seconds(20));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, batch.server().endpoint() + " AKID it's-secret us-east-1 us-east-1\n");
}

TEST_F(Cli, NoOtherCommandShowsTheSecret) {
  FakeBatch batch([](FakeBatch& fake, int describes) { one_attempt(fake, describes, 0); });
  attach(batch);
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"jobs"}, {"doctor"}, {"doctor", "--output", "json"}, {"show", FakeBatch::kJob}}) {
    const Ran ran = run(words);
    EXPECT_EQ((ran.out + ran.err).find("it's-secret"), std::string::npos) << words[0];
  }
}

TEST_F(Cli, ShowTellsWhereTheLogOfAnAttemptLies) {
  FakeBatch batch([](FakeBatch& fake, int) { one_attempt(fake, 2, 3); });
  attach(batch);
  const Ran ran = run({"show", FakeBatch::kJob});
  EXPECT_EQ(ran.code, 0);
  EXPECT_NE(ran.out.find("exit code    3\n"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find(data_ + "/attempts/" + FakeBatch::kJob + "/1/stdout.log\n"), std::string::npos) << ran.out;
  EXPECT_EQ(Json::parse(run({"show", FakeBatch::kJob, "--output", "json"}).out), batch.detail_now());
}

TEST_F(Cli, ARefusedLogFailsLogsButNotRun) {
  FakeBatch batch([](FakeBatch& fake, int describes) { one_attempt(fake, describes, 3); });
  batch.instead["s/1"] = {400, R"({"__type": "InvalidOperationException", "message": "a FIFO lies there"})", {}};
  attach(batch);
  const Ran ran = run({"run", "--", "x"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_NE(ran.err.find("a FIFO lies there"), std::string::npos) << ran.err;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"logs", FakeBatch::kJob}, {"logs", "-f", FakeBatch::kJob}}) {
    const Ran logs = run(words);
    EXPECT_EQ(logs.code, 254);
    EXPECT_NE(logs.err.find("a FIFO lies there"), std::string::npos) << logs.err;
  }
}

TEST_F(Cli, LogsInJsonAreOneObjectALine) {
  FakeBatch batch([](FakeBatch& fake, int) { one_attempt(fake, 2, 0); });
  attach(batch);
  EXPECT_EQ(run({"logs", FakeBatch::kJob, "--output", "json"}).out,
            "{\"attempt\":1,\"timestamp\":1000,\"message\":\"epoch 1\"}\n"
            "{\"attempt\":1,\"timestamp\":1001,\"message\":\"no newline\"}\n");
  EXPECT_EQ(run({"logs", FakeBatch::kJob, "--timestamps", "--tail", "1"}).out, "1970-01-01T00:00:01.001Z no newline\n");
  EXPECT_EQ(run({"logs", FakeBatch::kJob, "--attempt", "2"}).code, 252);
}

TEST_F(Cli, StopSendsTheReasonAndWaitsWhenAsked) {
  FakeBatch batch([](FakeBatch& fake, int describes) { fake.detail["status"] = describes < 3 ? "RUNNING" : "FAILED"; });
  attach(batch);
  const Ran ran = run({"stop", FakeBatch::kJob, "--reason", "enough", "--wait"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "digits (1f3c0000): FAILED\n");
  EXPECT_EQ(batch.requests_to("/v1/terminatejob").at(0),
            Json::object({{"jobId", FakeBatch::kJob}, {"reason", "enough"}}));
}

TEST_F(Cli, DoctorFailsWithOneAndSaysWhatToDo) {
  FakeBatch batch(nothing);
  attach(batch);
  EXPECT_EQ(run({"doctor"}).code, 0);
  ::chmod((data_ + "/credentials").c_str(), 0644);
  const Ran ran = run({"doctor"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.out.find("chmod 600 " + data_ + "/credentials"), std::string::npos);
  EXPECT_EQ(Json::parse(run({"doctor", "--output", "json"}).out)["ok"], false);
}

TEST_F(Cli, ServeFlagsBeatTheEnvironment) {
  ::setenv("TESON_LISTEN", "127.0.0.1:1", 1);
  ::setenv("TESON_CONFIG", "/etc/teson.yaml", 1);
  EXPECT_EQ(run({"serve"}).code, 7);
  EXPECT_EQ(served_->data, data_);
  EXPECT_EQ(served_->listen, "127.0.0.1:1");
  EXPECT_EQ(served_->config, "/etc/teson.yaml");
  EXPECT_FALSE(served_->allow_public);
  EXPECT_EQ(run({"serve", "--listen", "127.0.0.1:2", "--allow-public"}).code, 7);
  EXPECT_EQ(served_->listen, "127.0.0.1:2");
  EXPECT_TRUE(served_->allow_public);
}

TEST_F(Cli, VersionAndHelp) {
  EXPECT_EQ(run({"version"}).out, "teson 9.8.7\n");
  EXPECT_EQ(run({"--version"}).out, "teson 9.8.7\n");
  EXPECT_EQ(run({"version", "--output", "json"}).out, "{\n  \"version\": \"9.8.7\"\n}\n");
  const Ran help = run({"run", "--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_NE(help.out.find("Usage: teson run [OPTIONS] -- COMMAND"), std::string::npos);
  EXPECT_NE(help.out.find("--memory SIZE"), std::string::npos);
  EXPECT_EQ(help.out.find("--nodes"), std::string::npos);
}

// The judge is bash itself: the script is loaded, and completes a line.
TEST_F(Cli, BashCompletesCommandsAndFlags) {
  const std::string script = run({"completion", "bash"}).out;
  const auto complete = [&](const std::string& words, int index) {
    const auto read = program_output({"/bin/bash", "--norc", "-c",
                                      script + "\nCOMP_WORDS=(" + words + ") COMP_CWORD=" + std::to_string(index) +
                                          "; _teson; echo \"${COMPREPLY[*]}\""},
                                     Duration::seconds(20));
    return read ? *read : read.error().message;
  };
  EXPECT_EQ(complete("teson do", 1), "doctor\n");
  EXPECT_EQ(complete("teson --data /d jobs --sta", 4), "--status\n");
  EXPECT_EQ(complete("teson logs --f", 2), "--follow\n");
  EXPECT_EQ(complete("teson jobs --output ''", 3), "json table\n");
  EXPECT_EQ(complete("teson completion z", 2), "zsh\n");
  EXPECT_EQ(complete("teson run --no", 2), "\n");
  EXPECT_EQ(complete("teson user ro", 2), "role rotate\n");
  EXPECT_EQ(complete("teson user add --ro", 3), "--role\n");
  EXPECT_EQ(complete("teson help his", 2), "history\n");
}

// What --help of a command names: "  -f,--file FILE ..." and so on.
std::vector<std::string> flags_in(const std::string& help) {
  std::vector<std::string> flags;
  static const std::regex kFlag("^  +(?:(-[a-z]),)?(--[a-z-]+)");
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (!std::regex_search(line, found, kFlag)) continue;
    for (size_t group = 1; group < found.size(); ++group) {
      if (found[group].matched) flags.push_back(found[group]);
    }
  }
  return flags;
}

std::vector<std::string> commands_in(const std::string& help) {
  std::vector<std::string> names;
  std::istringstream lines(help.substr(std::min(help.find("\nSubcommands:"), help.size())));
  std::string line;
  std::getline(lines, line);
  std::getline(lines, line);
  while (std::getline(lines, line) && line.starts_with("  ")) {
    if (line[2] != ' ') names.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return names;
}

std::string without_roff(std::string text) {
  for (const char* mark : {"\\fB", "\\fI", "\\fR", "\\"}) {
    for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark)) text.erase(at, strlen(mark));
  }
  return text;
}

TEST_F(Cli, WhatHelpNamesIsInTheManualPageAndTheCompletions) {
  const std::string bash = run({"completion", "bash"}).out, zsh = run({"completion", "zsh"}).out;
  const std::string page = without_roff(run({"help", "--man"}).out);
  const auto commands = commands_in(run({"help"}).out);
  ASSERT_GE(commands.size(), 19u);
  for (const std::string& name : commands) {
    const size_t section = page.find(".SS teson " + name);
    ASSERT_NE(section, std::string::npos) << name;
    const std::string about = page.substr(section, page.find("\n.SS teson ", section + 1) - section);
    const size_t bash_case = bash.find("\n    " + name + ") words="), zsh_case = zsh.find("\n      " + name + ") _arg");
    ASSERT_NE(bash_case, std::string::npos) << name;
    ASSERT_NE(zsh_case, std::string::npos) << name;
    const std::string words = bash.substr(bash_case, bash.find(";;", bash_case) - bash_case);
    const std::string specs = zsh.substr(zsh_case, zsh.find(";;", zsh_case) - zsh_case);
    const auto flags = flags_in(run({"help", name}).out);
    ASSERT_FALSE(flags.empty()) << name;
    for (const std::string& flag : flags) {
      EXPECT_NE(about.find(flag), std::string::npos) << name << " " << flag;
      EXPECT_NE(words.find(flag), std::string::npos) << name << " " << flag;
      EXPECT_NE(specs.find("*" + flag + "["), std::string::npos) << name << " " << flag;
    }
  }
  for (const char* flag : {"--data DIR", "--endpoint URL", "--output FORMAT", "--region REGION", "--version"}) {
    EXPECT_NE(page.find(flag), std::string::npos) << flag;
  }
  EXPECT_NE(page.find(".SS teson user add [OPTION]... name\n"), std::string::npos);
  EXPECT_EQ(run({"help", "nothing"}).code, 252);
}

TEST_F(Cli, ZshCompletionHasEveryCommand) {
  const std::string script = run({"completion", "zsh"}).out;
  for (const char* name : {"run", "jobs", "show", "logs", "stop", "rerun", "throttle", "serve", "env", "doctor",
                           "version", "completion", "apply", "top", "help"}) {
    EXPECT_NE(script.find("'" + std::string(name) + ":"), std::string::npos) << name;
    EXPECT_NE(script.find("\n      " + std::string(name) + ") _arguments"), std::string::npos) << name;
  }
  EXPECT_EQ(run({"completion", "fish"}).code, 252);
  if (::access("/usr/bin/zsh", X_OK) != 0) return;
  const std::string path = data_ + "/_teson";
  std::ofstream(path) << script;
  const auto read = program_output({"/usr/bin/zsh", "-n", path}, Duration::seconds(20));
  EXPECT_TRUE(read) << read.error().message;
}

}  // namespace
}  // namespace teson::cli
