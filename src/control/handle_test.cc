#include "control/handle.h"

#include <gtest/gtest.h>

namespace teson {
namespace {

constexpr Instant kNow{5'000'000};

class HandleTest : public testing::Test {
 protected:
  HandleTest() : state_(Site{.host = {4000, 8000, 0}}) {
    ComputeEnvironment environment;
    environment.name = "local";
    environment.instance_types = {{"host", {4000, 8000, 0}, {}, {}}};
    environment.max_vcpus = 4;
    expect_ok(command::CreateEnvironment{environment});
    Queue queue;
    queue.name = "default";
    queue.environments = {"local"};
    expect_ok(command::CreateQueue{queue});
  }

  Result<Handled> run(const Command& command) {
    auto handled = handle(state_, command, kNow);
    if (handled) {
      for (const FactBody& body : handled->facts) state_.apply(Fact{kNow, body});
    }
    return handled;
  }
  Handled expect_ok(const Command& command) {
    auto handled = run(command);
    EXPECT_TRUE(handled) << handled.error().message;
    return handled.value_or(Handled{});
  }
  std::string error_of(const Command& command) {
    auto handled = run(command);
    return handled ? "accepted" : handled.error().message;
  }

  static JobSpec spec() {
    JobSpec out;
    out.name = "train";
    out.queue = "default";
    out.definition = "def";
    out.image = "host";
    out.resources = {1000, 100, 0};
    return out;
  }
  static JobId id(uint64_t n) { return JobId{Uuid{0, n}}; }

  void start(const JobId& job, int number) {
    Instance instance{InstanceId{7}, "local", "host", Market::kOnDemand, {4000, 8000, 0}, {}, kNow};
    if (!state_.instances().contains(instance.id)) state_.apply({kNow, fact::InstanceStarted{instance}});
    Attempt attempt;
    attempt.number = number;
    attempt.instance = instance.id;
    attempt.environment = "local";
    attempt.allocated = {1000, 100, 0};
    attempt.log_stream = "def/default/x";
    state_.apply({kNow, fact::AttemptPlaced{job, attempt}});
  }

  State state_;
};

TEST_F(HandleTest, ARepeatedSubmitIsAcceptedOnce) {
  EXPECT_EQ(expect_ok(command::SubmitJob{id(1), spec(), {}}).facts.size(), 1u);
  EXPECT_EQ(expect_ok(command::SubmitJob{id(1), spec(), {}}).facts.size(), 0u);
  EXPECT_EQ(state_.job_count(), 1u);
}

TEST_F(HandleTest, SubmitNamesTheQueueThatIsMissingOrDisabled) {
  JobSpec wrong = spec();
  wrong.queue = "nowhere";
  EXPECT_EQ(error_of(command::SubmitJob{id(1), wrong, {}}), "Job queue 'nowhere' does not exist");
  expect_ok(command::UpdateQueue{"default", [](Queue& q) -> Status {
                                   q.enabled = false;
                                   return {};
                                 }});
  EXPECT_EQ(error_of(command::SubmitJob{id(1), spec(), {}}),
            "Job queue 'default' is DISABLED and takes no jobs: enable it first");
}

TEST_F(HandleTest, UnknownDependenciesAreAskedForAndThenJudged) {
  JobSpec dependent = spec();
  dependent.depends_on = {id(1), id(2)};
  const Handled asked = expect_ok(command::SubmitJob{id(3), dependent, {}});
  EXPECT_TRUE(asked.facts.empty());
  EXPECT_EQ(asked.accepted.unknown_dependencies, (std::vector{id(1), id(2)}));

  expect_ok(command::SubmitJob{id(3), dependent, {{id(1), {true, ""}}, {id(2), {true, ""}}}});
  EXPECT_STREQ(status_name(*state_.job(id(3))), "RUNNABLE");

  expect_ok(command::SubmitJob{id(4), dependent, {{id(1), {true, ""}}, {id(2), {false, ""}}}});
  const auto finished = state_.take_finished();
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_EQ(finished[0].status_reason, "Dependent job failed: " + id(2).text());
}

// ---- Arrays ----

JobSpec array_spec(JobSpec spec, int size) {
  spec.array = ArraySpec{.size = size};
  return spec;
}

TEST_F(HandleTest, NToNNeedsArraysOfOneSizeAndDoomsTheCounterpartsOfFailures) {
  expect_ok(command::SubmitJob{id(1), spec(), {}});
  JobSpec paired = array_spec(spec(), 3);
  paired.array->n_to_n = {id(1)};
  EXPECT_EQ(error_of(command::SubmitJob{id(2), paired, {}}),
            "'dependsOn': N_TO_N: job " + id(1).text() + " is not an array job");
  paired.array->n_to_n = {id(5)};
  EXPECT_EQ(expect_ok(command::SubmitJob{id(2), paired, {}}).accepted.unknown_dependencies, std::vector{id(5)});
  EXPECT_EQ(error_of(command::SubmitJob{id(2), paired, {{id(5), {true, "++"}}}}),
            "'dependsOn': N_TO_N needs arrays of one size: this one has 3 children, job " + id(5).text() + " has 2");
  expect_ok(command::SubmitJob{id(2), paired, {{id(5), {false, "+FF"}}}});
  EXPECT_EQ(state_.job(id(2))->array->children, "RFF");
}

TEST_F(HandleTest, AChildOfALiveArrayIsADependencyLikeAnother) {
  expect_ok(command::SubmitJob{id(1), array_spec(spec(), 3), {}});
  expect_ok(command::StopJob{id(1).child(2), StopKind::kCancel, "no"});
  EXPECT_EQ(state_.job(id(1))->array->children, "RRF");
  JobSpec dependent = spec();
  dependent.depends_on = {id(1).child(0)};
  expect_ok(command::SubmitJob{id(2), dependent, {}});
  EXPECT_STREQ(status_name(*state_.job(id(2))), "PENDING");
  dependent.depends_on = {id(1).child(2)};
  expect_ok(command::SubmitJob{id(3), dependent, {}});
  EXPECT_EQ(state_.take_finished().at(0).status_reason, "Dependent job failed: " + id(1).child(2).text());
  dependent.depends_on = {id(1).child(3)};
  EXPECT_EQ(expect_ok(command::SubmitJob{id(4), dependent, {}}).accepted.unknown_dependencies,
            std::vector{id(1).child(3)});
}

TEST_F(HandleTest, CancelOfAnArrayLeavesWhatRunsAndATerminateMayFollow) {
  expect_ok(command::SubmitJob{id(1), array_spec(spec(), 3), {}});
  start(id(1).child(0), 1);
  expect_ok(command::StopJob{id(1), StopKind::kCancel, "enough"});
  EXPECT_EQ(state_.job(id(1))->array->children, "SFF");
  EXPECT_FALSE(state_.job(id(1).child(0))->stop);
  EXPECT_TRUE(expect_ok(command::StopJob{id(1), StopKind::kCancel, "again"}).facts.empty());
  expect_ok(command::StopJob{id(1), StopKind::kTerminate, "now"});
  EXPECT_EQ(state_.job(id(1).child(0))->stop->reason, "now");
  EXPECT_TRUE(expect_ok(command::StopJob{id(1), StopKind::kTerminate, "again"}).facts.empty());
}

// Its retry would start something that nobody wants any more.
TEST_F(HandleTest, AChildOfACancelledArrayIsNotRetried) {
  JobSpec retried = array_spec(spec(), 2);
  retried.retry.attempts = 3;
  expect_ok(command::SubmitJob{id(1), retried, {}});
  start(id(1).child(0), 1);
  expect_ok(command::StopJob{id(1), StopKind::kCancel, "enough"});
  AttemptEnd end;
  end.exit_code = 1;
  const auto facts = handle(state_, AttemptReport{{id(1).child(0), 1}, AttemptEndedReport{end}}, kNow);
  EXPECT_EQ(std::get<fact::AttemptEnded>(facts.back()).verdict, fact::Verdict::kFailed);
}

TEST_F(HandleTest, CancelEndsAWaitingJobAndLeavesARunningOne) {
  expect_ok(command::SubmitJob{id(1), spec(), {}});
  expect_ok(command::SubmitJob{id(2), spec(), {}});
  start(id(1), 1);
  EXPECT_TRUE(expect_ok(command::StopJob{id(1), StopKind::kCancel, "no"}).facts.empty());
  EXPECT_FALSE(state_.job(id(1))->stop);
  expect_ok(command::StopJob{id(2), StopKind::kCancel, "not needed"});
  EXPECT_EQ(state_.take_finished().at(0).status_reason, "not needed");
}

TEST_F(HandleTest, TerminateOfARunningJobIsRequestedOnceAndTheFirstReasonStands) {
  expect_ok(command::SubmitJob{id(1), spec(), {}});
  start(id(1), 1);
  EXPECT_EQ(expect_ok(command::StopJob{id(1), StopKind::kTerminate, "first"}).facts.size(), 1u);
  EXPECT_EQ(expect_ok(command::StopJob{id(1), StopKind::kTerminate, "second"}).facts.size(), 0u);
  EXPECT_EQ(state_.job(id(1))->stop->reason, "first");
}

TEST_F(HandleTest, ReportsOfAttemptsThatAreNotLiveChangeNothing) {
  expect_ok(command::SubmitJob{id(1), spec(), {}});
  EXPECT_TRUE(handle(state_, AttemptReport{{id(1), 1}, AttemptStartedReport{kNow}}, kNow).empty());
  start(id(1), 1);
  EXPECT_TRUE(handle(state_, AttemptReport{{id(1), 2}, AttemptStartedReport{kNow}}, kNow).empty());
  EXPECT_TRUE(handle(state_, AttemptReport{{id(9), 1}, AttemptStartedReport{kNow}}, kNow).empty());
  const auto facts = handle(state_, AttemptReport{{id(1), 1}, AttemptStartedReport{kNow}}, kNow);
  ASSERT_EQ(facts.size(), 1u);
  state_.apply({kNow, facts[0]});
  EXPECT_TRUE(handle(state_, AttemptReport{{id(1), 1}, AttemptStartedReport{kNow}}, kNow).empty());
}

TEST_F(HandleTest, AnEndWithoutAReportedStartStillNamesItsLogStream) {
  expect_ok(command::SubmitJob{id(1), spec(), {}});
  start(id(1), 1);
  AttemptEnd end;
  end.exit_code = 0;
  end.ended = kNow;
  end.usage.run = Duration::seconds(2);
  const auto facts = handle(state_, AttemptReport{{id(1), 1}, AttemptEndedReport{end}}, kNow);
  ASSERT_EQ(facts.size(), 2u);
  const auto& started = std::get<fact::AttemptStarted>(facts[0]);
  EXPECT_EQ(started.started, kNow - Duration::seconds(2));
  EXPECT_EQ(started.log_stream, "def/default/x");
  EXPECT_EQ(std::get<fact::AttemptEnded>(facts[1]).verdict, fact::Verdict::kSucceeded);
}

TEST_F(HandleTest, ALostAttemptSaysSoInAwsWords) {
  expect_ok(command::SubmitJob{id(1), spec(), {}});
  start(id(1), 1);
  const auto facts = handle(state_, AttemptReport{{id(1), 1}, AttemptLostReport{kNow, "agent is gone"}}, kNow);
  ASSERT_EQ(facts.size(), 1u);
  const auto& ended = std::get<fact::AttemptEnded>(facts[0]);
  EXPECT_EQ(ended.end.status_reason, "Host EC2 (instance i-00000000000000007) terminated.");
  EXPECT_EQ(ended.end.reason, "agent is gone");
  EXPECT_FALSE(ended.end.exit_code);
}

TEST_F(HandleTest, DeletionNeedsDisabledAndUnused) {
  EXPECT_EQ(error_of(command::DeleteEnvironment{"local"}),
            "Cannot delete, resource is enabled: set compute environment 'local' to DISABLED first");
  expect_ok(command::UpdateEnvironment{"local", [](ComputeEnvironment& e) -> Status {
                                         e.enabled = false;
                                         return {};
                                       }});
  EXPECT_EQ(error_of(command::DeleteEnvironment{"local"}),
            "Cannot delete, found existing JobQueue relationship: queue 'default' uses compute environment 'local'");
  EXPECT_EQ(error_of(command::DeleteQueue{"default"}),
            "Cannot delete, resource is enabled: set job queue 'default' to DISABLED first");
}

TEST_F(HandleTest, ADeletedQueueStopsItsJobsAndIsMarked) {
  expect_ok(command::SubmitJob{id(1), spec(), {}});
  expect_ok(command::SubmitJob{id(2), spec(), {}});
  start(id(1), 1);
  expect_ok(command::UpdateQueue{"default", [](Queue& q) -> Status {
                                   q.enabled = false;
                                   return {};
                                 }});
  expect_ok(command::DeleteQueue{"default"});
  EXPECT_TRUE(state_.queues().at("default").value.deleting);
  EXPECT_EQ(state_.job(id(1))->stop->reason, "Job queue deleted");
  EXPECT_EQ(state_.job(id(2)), nullptr);
}

TEST_F(HandleTest, RevisionsCountUpAndAreNeverUsedAgain) {
  JobDefinition definition;
  definition.name = "def";
  EXPECT_EQ(expect_ok(command::RegisterDefinition{definition}).accepted.revision, 1);
  EXPECT_EQ(expect_ok(command::RegisterDefinition{definition}).accepted.revision, 2);
  expect_ok(command::UpdateDefinition{"def", 2, [](JobDefinition& d) -> Status {
                                        d.active = false;
                                        return {};
                                      }});
  EXPECT_EQ(expect_ok(command::RegisterDefinition{definition}).accepted.revision, 3);
  EXPECT_EQ(error_of(command::UpdateDefinition{"def", 9, [](JobDefinition&) -> Status { return {}; }}),
            "Job definition 'def:9' does not exist");
}

TEST_F(HandleTest, AQueueMustNameEnvironmentsThatExist) {
  Queue queue;
  queue.name = "other";
  queue.environments = {"local", "typo"};
  EXPECT_EQ(error_of(command::CreateQueue{queue}),
            "computeEnvironmentOrder: compute environment 'typo' does not exist");
}

TEST_F(HandleTest, AJobIsStoppedAndTaggedByItsOwnerOrAnAdmin) {
  const Caller ana{"ana", Role::kUser}, bo{"bo", Role::kUser}, chief{"chief", Role::kAdmin};
  JobSpec anas = spec();
  anas.owner = "ana";
  expect_ok(command::SubmitJob{id(1), anas, {}});
  expect_ok(command::SubmitJob{id(2), spec(), {}});  // of before there were users
  EXPECT_EQ(error_of(command::StopJob{id(1), StopKind::kTerminate, "mine", bo}),
            "User: bo is not authorized to perform: batch:TerminateJob on resource: job/" + id(1).text() +
                " because it is ana's: ask ana or an admin to do it");
  EXPECT_EQ(error_of(command::StopJob{id(2), StopKind::kCancel, "mine", ana}),
            "User: ana is not authorized to perform: batch:CancelJob on resource: job/" + id(2).text() +
                " because it is default's: ask default or an admin to do it");
  const auto no_change = [](Tags&, std::optional<int>&) -> Status { return {}; };
  EXPECT_NE(error_of(command::UpdateJobTags{id(1), no_change, bo}), "accepted");
  EXPECT_EQ(error_of(command::UpdateJobTags{id(1), no_change, ana}), "accepted");
  EXPECT_EQ(error_of(command::StopJob{id(2), StopKind::kCancel, "rules", chief}), "accepted");
  EXPECT_EQ(error_of(command::StopJob{id(1), StopKind::kTerminate, "own", ana}), "accepted");
}

}  // namespace
}  // namespace teson
