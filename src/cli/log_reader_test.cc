#include "cli/log_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "cli/fake_batch_testing.h"
#include "cli/interrupt.h"

namespace teson::cli {
namespace {

// Everything a sink is told, as one list: "1:line", "attempt 2", "attempt 2 never ran".
struct Heard {
  std::vector<std::string> all;
  std::vector<std::string> notices;
  LogSink sink;

  Heard() {
    sink.line = [this](const LogEvent& event) { all.push_back(fmt::format("{}:{}", event.attempt, event.message)); };
    sink.attempt = [this](const AttemptView& attempt) {
      all.push_back(fmt::format("attempt {}{}", attempt.number, attempt.log_stream.empty() ? " never ran" : ""));
    };
    sink.notice = [this](std::string_view text) { notices.emplace_back(text); };
    sink.caught_up = [] {};
  }
};

Session session_for(FakeBatch& batch) {
  return {.data = "/d",
          .endpoint = batch.server().endpoint(),
          .by_data_directory = true,
          .keys = {"k", "s"},
          .region = "r"};
}

FollowHooks hooks_for(FakeBatch& batch) {
  return {.reopen = [&batch] { return session_for(batch); }, .go_on_when_interrupted = {}};
}

Json ended(const char* stream, int exit_code) {
  Json container = Json::object({{"exitCode", exit_code}});
  if (*stream != '\0') container["logStreamName"] = stream;
  return Json::object({{"startedAt", 1}, {"stoppedAt", 2}, {"statusReason", "why"}, {"container", container}});
}

void run(FakeBatch& batch, const char* stream) {
  batch.detail["status"] = "RUNNING";
  batch.detail["container"] = Json::object({{"logStreamName", stream}});
}

void end(FakeBatch& batch, const char* stream, int exit_code, const char* status) {
  batch.detail["attempts"].push_back(ended(stream, exit_code));
  batch.detail["status"] = status;
  batch.detail["container"] = Json::object({{"logStreamName", stream}, {"exitCode", exit_code}});
}

std::vector<std::string> numbered(int attempt, int count) {
  std::vector<std::string> lines = {fmt::format("attempt {}", attempt)};
  for (int i = 0; i < count; ++i) lines.push_back(fmt::format("{}:line {}", attempt, i));
  return lines;
}

// C38: 50,000 lines, then immediate exit. C37: the last line has no end.
TEST(FollowLog, GivesEveryLineInOrderAndEndsWithTheJob) {
  FakeBatch batch([](FakeBatch& fake, int describes) {
    if (describes == 2) run(fake, "s/1");
    if (describes < 3) return;
    for (int i = 0; i < 50'000 && describes == 3; ++i) fake.streams["s/1"].push_back(fmt::format("line {}", i));
    if (describes == 3) end(fake, "s/1", 0, "SUCCEEDED");
  });
  Client client(session_for(batch));
  Heard heard;
  const auto follow = follow_log(client, FakeBatch::kJob, {}, heard.sink, hooks_for(batch));
  ASSERT_TRUE(follow) << follow.error().message;
  EXPECT_FALSE(follow->interrupted);
  EXPECT_EQ(follow->job.status, "SUCCEEDED");
  EXPECT_EQ(heard.all, numbered(1, 50'000));
}

TEST(FollowLog, ShowsLinesWrittenBetweenTheLastLookAndTheEnd) {
  FakeBatch batch([](FakeBatch& fake, int describes) {
    if (describes == 1) {
      run(fake, "s/1");
      fake.streams["s/1"] = {"a"};
    }
    if (describes == 2) {
      fake.streams["s/1"].push_back("b");
      end(fake, "s/1", 3, "FAILED");
    }
  });
  Client client(session_for(batch));
  Heard heard;
  const auto follow = follow_log(client, FakeBatch::kJob, {}, heard.sink, hooks_for(batch));
  ASSERT_TRUE(follow);
  EXPECT_EQ(heard.all, (std::vector<std::string>{"attempt 1", "1:a", "1:b"}));
  EXPECT_EQ(exit_code_of(follow->job), 3);
}

TEST(FollowLog, CrossesAttemptsAndSaysWhichNeverRan) {
  FakeBatch batch([](FakeBatch& fake, int describes) {
    if (describes == 1) {
      run(fake, "s/1");
      fake.streams["s/1"] = {"first"};
    }
    if (describes == 2) end(fake, "s/1", 1, "RUNNABLE");
    if (describes == 3) end(fake, "", 0, "RUNNABLE");
    if (describes == 4) run(fake, "s/3");  // announced before it exists
    if (describes == 5) fake.streams["s/3"] = {"third"};
    if (describes == 6) end(fake, "s/3", 0, "SUCCEEDED");
  });
  Client client(session_for(batch));
  Heard heard;
  const auto follow = follow_log(client, FakeBatch::kJob, {}, heard.sink, hooks_for(batch));
  ASSERT_TRUE(follow) << follow.error().message;
  EXPECT_EQ(heard.all,
            (std::vector<std::string>{"attempt 1", "1:first", "attempt 2 never ran", "attempt 3", "3:third"}));
}

TEST(FollowLog, EndsWithTheAttemptThatWasAskedFor) {
  FakeBatch batch([](FakeBatch& fake, int describes) {
    if (describes == 1) {
      run(fake, "s/1");
      fake.streams["s/1"] = {"first"};
    }
    if (describes == 2) end(fake, "s/1", 1, "RUNNABLE");
  });
  Client client(session_for(batch));
  Heard heard;
  const auto follow = follow_log(client, FakeBatch::kJob, {.attempt = 1, .tail = {}}, heard.sink, hooks_for(batch));
  ASSERT_TRUE(follow);
  EXPECT_EQ(heard.all, (std::vector<std::string>{"attempt 1", "1:first"}));
  EXPECT_EQ(follow->job.status, "RUNNABLE");
}

TEST(FollowLog, RidesOverAServerThatIsAwayWithoutLosingOrRepeatingALine) {
  FakeBatch batch([](FakeBatch& fake, int describes) {
    if (describes == 1) {
      run(fake, "s/1");
      for (int i = 0; i < 5; ++i) fake.streams["s/1"].push_back(fmt::format("line {}", i));
    }
    // The next request reads the log: it is lost, and so is the one after.
    if (describes == 2) fake.hang_up = 2;
    if (describes == 4) end(fake, "s/1", 0, "SUCCEEDED");
  });
  batch.page = 2;
  Client client(session_for(batch));
  Heard heard;
  const auto follow = follow_log(client, FakeBatch::kJob, {}, heard.sink, hooks_for(batch));
  ASSERT_TRUE(follow) << follow.error().message;
  EXPECT_EQ(heard.all, numbered(1, 5));
  ASSERT_EQ(heard.notices.size(), 2u);
  EXPECT_NE(heard.notices[0].find("waiting for it"), std::string::npos);
  EXPECT_EQ(heard.notices[1], "the server is back");
}

TEST(FollowLog, GoesOnAfterCtrlCWithoutLosingALineWhereAskedTo) {
  FakeBatch batch([](FakeBatch& fake, int describes) {
    if (describes == 1) {
      run(fake, "s/1");
      for (int i = 0; i < 3; ++i) fake.streams["s/1"].push_back(fmt::format("line {}", i));
    }
    if (describes == 2) ::kill(::getpid(), SIGINT);
    if (describes == 3) {
      fake.streams["s/1"].push_back("line 3");
      end(fake, "s/1", 143, "FAILED");
    }
  });
  watch_interrupts();
  Client client(session_for(batch));
  Heard heard;
  FollowHooks hooks = hooks_for(batch);
  int asked = 0;
  hooks.go_on_when_interrupted = [&](Client&) -> Outcome<bool> {
    ++asked;
    forget_interrupt();
    return true;
  };
  const auto follow = follow_log(client, FakeBatch::kJob, {}, heard.sink, hooks);
  ASSERT_TRUE(follow) << follow.error().message;
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(follow->interrupted);
  EXPECT_EQ(heard.all, numbered(1, 4));
}

const StandInAnswer kReplaced{400, R"({"__type": "InvalidOperationException", "message": "a FIFO lies there"})", {}};

TEST(FollowLog, ALogThatIsRefusedIsLeftBehindAndTheJobFollowedToItsEnd) {
  FakeBatch batch([](FakeBatch& fake, int describes) {
    if (describes == 1) {
      run(fake, "s/1");
      fake.streams["s/1"] = {"first"};
    }
    if (describes == 2) fake.instead["s/1"] = kReplaced;
    if (describes == 4) end(fake, "s/1", 5, "RUNNABLE");
    if (describes == 5) run(fake, "s/2");
    if (describes == 5) fake.streams["s/2"] = {"second"};
    if (describes == 6) end(fake, "s/2", 7, "FAILED");
  });
  Client client(session_for(batch));
  Heard heard;
  const auto follow = follow_log(client, FakeBatch::kJob, {}, heard.sink, hooks_for(batch));
  ASSERT_TRUE(follow) << follow.error().message;
  EXPECT_EQ(exit_code_of(follow->job), 7);
  EXPECT_FALSE(follow->complete);
  EXPECT_EQ(heard.all, (std::vector<std::string>{"attempt 1", "1:first", "attempt 2", "2:second"}));
  EXPECT_EQ(heard.notices, (std::vector<std::string>{
                               "the log of attempt 1 cannot be read, so no more of its lines are shown: GetLogEvents: "
                               "InvalidOperationException: a FIFO lies there"}));
  // Two pages while it was good and one refusal: it is not asked for again.
  int asked = 0;
  for (const Json& request : batch.requests_to("/")) asked += text_field(request, "logStreamName") == "s/1" ? 1 : 0;
  EXPECT_EQ(asked, 3);
}

TEST(FollowLog, ALogThatIsNotGivenForTooLongIsLeftBehind) {
  FakeBatch batch([](FakeBatch& fake, int describes) {
    if (describes == 1) run(fake, "s/1");
    if (describes == 3) end(fake, "s/1", 6, "FAILED");
  });
  batch.instead["s/1"] = {500, R"({"__type": "ServiceUnavailableException", "message": "bad disk"})", {}};
  Client client(session_for(batch));
  Heard heard;
  FollowHooks hooks = hooks_for(batch);
  hooks.patience = Duration{};
  const auto follow = follow_log(client, FakeBatch::kJob, {}, heard.sink, hooks);
  ASSERT_TRUE(follow) << follow.error().message;
  EXPECT_EQ(exit_code_of(follow->job), 6);
  EXPECT_FALSE(follow->complete);
  ASSERT_EQ(heard.notices.size(), 2u);
  EXPECT_NE(heard.notices[0].find("bad disk; waiting for it"), std::string::npos) << heard.notices[0];
  EXPECT_NE(heard.notices[1].find("the log of attempt 1 cannot be read"), std::string::npos) << heard.notices[1];
}

TEST(FollowLog, AServerThatIsAwayForTooLongEndsIt) {
  FakeBatch batch([](FakeBatch&, int) {});
  batch.hang_up = 1'000'000;
  Client client(session_for(batch));
  Heard heard;
  FollowHooks hooks = hooks_for(batch);
  hooks.patience = Duration::millis(1);
  const auto follow = follow_log(client, FakeBatch::kJob, {}, heard.sink, hooks);
  ASSERT_FALSE(follow);
  EXPECT_EQ(follow.error().kind, FailureKind::kUnreachable);
}

TEST(FollowLog, ARefusalEndsIt) {
  FakeBatch batch([](FakeBatch& fake, int) { fake.detail["jobId"] = "another"; });
  Client client(session_for(batch));
  Heard heard;
  const auto follow = follow_log(client, FakeBatch::kJob, {}, heard.sink, hooks_for(batch));
  ASSERT_FALSE(follow);
  EXPECT_EQ(follow.error().kind, FailureKind::kUsage);
}

class ReadLog : public testing::Test {
 protected:
  ReadLog() : batch_([](FakeBatch&, int) {}) {
    for (int i = 0; i < 3; ++i) batch_.streams["s/1"].push_back(fmt::format("line {}", i));
    for (int i = 0; i < 7; ++i) batch_.streams["s/2"].push_back(fmt::format("line {}", i));
    end(batch_, "s/1", 1, "RUNNABLE");
    end(batch_, "s/2", 0, "SUCCEEDED");
  }

  std::vector<std::string> read(const LogSelection& selection) {
    Client client(session_for(batch_));
    Heard heard;
    const auto job = read_log(client, FakeBatch::kJob, selection, heard.sink);
    EXPECT_TRUE(job) << job.error().message;
    complete_ = job && job->complete;
    return heard.all;
  }

  FakeBatch batch_;
  bool complete_ = false;
};

TEST_F(ReadLog, ARefusedAttemptIsLeftOut) {
  EXPECT_EQ(read({.attempt = 2, .tail = {}}), numbered(2, 7));
  EXPECT_TRUE(complete_);
  batch_.instead["s/1"] = kReplaced;
  std::vector<std::string> rest = {"attempt 1"};
  for (const std::string& line : numbered(2, 7)) rest.push_back(line);
  EXPECT_EQ(read({}), rest);
  EXPECT_FALSE(complete_);
}

TEST_F(ReadLog, GivesAllAttemptsInOrder) {
  std::vector<std::string> both = numbered(1, 3);
  for (const std::string& line : numbered(2, 7)) both.push_back(line);
  EXPECT_EQ(read({}), both);
}

TEST_F(ReadLog, AnEmptyPageIsNotTheEnd) {
  batch_.page = 2;
  batch_.empty_pages = true;
  EXPECT_EQ(read({.attempt = 2, .tail = {}}), numbered(2, 7));
}

TEST_F(ReadLog, OneAttemptAlone) { EXPECT_EQ(read({.attempt = 1, .tail = {}}), numbered(1, 3)); }

TEST_F(ReadLog, AnAttemptThatIsNotThereIsNothing) { EXPECT_TRUE(read({.attempt = 3, .tail = {}}).empty()); }

TEST_F(ReadLog, TheLastLinesOfTheLastAttempt) {
  EXPECT_EQ(read({.attempt = {}, .tail = 2}), (std::vector<std::string>{"attempt 2", "2:line 5", "2:line 6"}));
  EXPECT_EQ(read({.attempt = {}, .tail = 0}), (std::vector<std::string>{"attempt 2"}));
  EXPECT_EQ(read({.attempt = {}, .tail = 100}), numbered(2, 7));
  EXPECT_EQ(read({.attempt = 1, .tail = 1}), (std::vector<std::string>{"attempt 1", "1:line 2"}));
}

TEST_F(ReadLog, ATailLongerThanAPageGoesBackPageByPage) {
  batch_.page = 2;
  EXPECT_EQ(read({.attempt = {}, .tail = 5}),
            (std::vector<std::string>{"attempt 2", "2:line 2", "2:line 3", "2:line 4", "2:line 5", "2:line 6"}));
}

}  // namespace
}  // namespace teson::cli
