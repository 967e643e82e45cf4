// What a step promises when the journal fails beside it. The long story is told by the fault simulator (sim/).
#include "control/controller.h"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

namespace teson {
namespace {

constexpr Instant kStart{1'000'000'000};

class ScriptedJournal final : public Journal {
 public:
  Status append(std::span<const Fact> batch, std::span<const Job>) override {
    if (failing) return fail(ErrorKind::kUnavailable, "no space");
    facts.insert(facts.end(), batch.begin(), batch.end());
    return {};
  }
  Result<JournalContents> load() override {
    if (unreadable) return fail(ErrorKind::kIo, "no such disk");
    return JournalContents{{}, 0, facts};
  }
  bool failing = false;
  bool unreadable = false;
  std::vector<Fact> facts;
};

class ScriptedLauncher final : public Launcher {
 public:
  void launch(const LaunchOrder& order) override { launched.push_back(order.id); }
  void stop(const AttemptId&, Duration) override {}
  AttemptFinding settle(const AttemptId&) override { return AttemptAlive{}; }
  void forget(std::span<const AttemptId> ids) override { forgotten.insert(forgotten.end(), ids.begin(), ids.end()); }
  std::vector<AttemptId> launched;
  std::vector<AttemptId> forgotten;
};

class ControllerTest : public testing::Test {
 protected:
  ControllerTest() {
    spdlog::set_level(spdlog::level::off);
    EXPECT_TRUE(controller_.recover(kStart).has_value());
  }

  CommandInput command(Command c) {
    return {std::move(c), [this](Result<Accepted> r) { answers_.push_back(r ? "ok" : r.error().message); }};
  }
  static Queue queue(const std::string& name) { return Queue{.name = name}; }
  void step(Instant now, std::vector<Input> inputs) { controller_.step(now, inputs); }
  std::vector<Input> inputs(Input input) {
    std::vector<Input> out;
    out.push_back(std::move(input));
    return out;
  }

  ScriptedJournal journal_;
  ScriptedLauncher launcher_;
  Controller controller_{journal_, launcher_, Site{.host = {4000, 8000, 0}}};
  std::vector<std::string> answers_;
};

TEST_F(ControllerTest, ARejectionThatStoodOnFactsThatFailedIsNotTold) {
  journal_.failing = true;
  std::vector<Input> batch;
  batch.emplace_back(command(command::CreateQueue{queue("q")}));
  batch.emplace_back(command(command::CreateQueue{queue("q")}));
  controller_.step(kStart, batch);
  ASSERT_EQ(answers_.size(), 2u);
  EXPECT_NE(answers_[0].find("no space"), std::string::npos);
  EXPECT_EQ(answers_[1], answers_[0]);
  EXPECT_TRUE(controller_.state().queues().empty());
}

TEST_F(ControllerTest, AHoldKeepsItsWordsThroughAFailedCommit) {
  journal_.failing = true;
  std::vector<Input> batch;
  batch.emplace_back(HoldInput{"the disk is nearly full"});
  batch.emplace_back(command(command::CreateQueue{queue("q")}));
  controller_.step(kStart, batch);
  journal_.failing = false;
  step(kStart + Duration::seconds(2), {});
  EXPECT_EQ(controller_.trouble(), "the disk is nearly full");
}

TEST_F(ControllerTest, AQuestionWaitsWhileTheStateMayHoldWhatIsNotDurable) {
  journal_.failing = journal_.unreadable = true;
  step(kStart, inputs(command(command::CreateQueue{queue("q")})));
  std::vector<size_t> seen;
  step(kStart, inputs(QuestionInput{[&](const Controller& c) { seen.push_back(c.state().queues().size()); }}));
  EXPECT_TRUE(seen.empty());
  journal_.failing = journal_.unreadable = false;
  step(kStart + Duration::seconds(2), {});
  EXPECT_EQ(seen, std::vector<size_t>{0});
}

TEST_F(ControllerTest, AClockThatWasSetBackDoesNotDelayTheRetryOfTheJournal) {
  step(kStart + Duration::seconds(3600), inputs(command(command::CreateQueue{queue("q")})));
  Controller restarted(journal_, launcher_, Site{.host = {4000, 8000, 0}});
  ASSERT_TRUE(restarted.recover(kStart).has_value());
  journal_.failing = true;
  auto batch = inputs(command(command::CreateQueue{queue("r")}));
  restarted.step(kStart, batch);
  EXPECT_EQ(restarted.next_wakeup(), kStart + Duration::seconds(1));
  journal_.failing = false;
  batch = inputs(command(command::CreateQueue{queue("r")}));
  restarted.step(kStart + Duration::seconds(1), batch);
  EXPECT_EQ(answers_.back(), "ok");
  EXPECT_EQ(journal_.facts.back().at, kStart + Duration::seconds(3600));  // facts never go back
}

TEST_F(ControllerTest, TheEndOfAnAttemptThatIsNotLiveIsForgottenAgain) {
  const AttemptId gone{JobId{Uuid{0, 9}}, 1};
  step(kStart, inputs(AttemptReport{gone, AttemptStartedReport{kStart}}));
  EXPECT_TRUE(launcher_.forgotten.empty());
  step(kStart, inputs(AttemptReport{gone, AttemptEndedReport{}}));
  EXPECT_EQ(launcher_.forgotten, std::vector<AttemptId>{gone});
}

}  // namespace
}  // namespace teson
