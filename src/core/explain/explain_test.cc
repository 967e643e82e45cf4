#include "core/explain/explain.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/explain/constants.h"
#include "core/explain/waiting.h"
#include "core/explain/words.h"
#include "core/scheduler/world_testing.h"

namespace teson {
namespace {

constexpr Resources kBig{8000, 31'431, 0};

bool has_line(const Explanation& explanation, const std::string& line) {
  return std::ranges::find(explanation.lines, line) != explanation.lines.end();
}

class Explain : public testing::Test {
 protected:
  void on(Resources host, int64_t max_vcpus = 8) {
    world.emplace(host);
    world->environment("local", {type("host", host)}, max_vcpus);
    world->queue("default", {"local"});
  }
  Explanation of(const JobId& id) const { return explain_live(world->state, *world->state.job(id)); }
  std::string reason(const JobId& id) const { return waiting_reason(world->state, *world->state.job(id)); }
  void start(const JobId& id) { world->fact(fact::AttemptStarted{{id, world->attempt(id).number}, world->now, "s"}); }
  Job finished(const JobId& id) {
    for (Job& job : world->state.take_finished()) {
      if (job.id == id) return std::move(job);
    }
    ADD_FAILURE() << "job has not finished";
    return {};
  }

  std::optional<World> world;
};

TEST(Words, TimesSpansAndCutsAreExact) {
  EXPECT_EQ(utc_text(Instant{951'827'696'000'000}), "2000-02-29T12:34:56Z");
  EXPECT_EQ(utc_text(Instant{0}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(span_text(Duration::millis(400)), "0.4 s");
  EXPECT_EQ(span_text(Duration::seconds(185)), "3 min 5 s");
  EXPECT_EQ(span_text(Duration::seconds(7440)), "2 h 4 min");
  EXPECT_EQ(clipped("abcdef", 6), "abcdef");
  EXPECT_EQ(clipped("abcdefg", 6), "abc...");
  EXPECT_EQ(clipped("ab\xC3\xA9xxxx", 6), "ab...");
}

TEST_F(Explain, C1TooBigForEveryHostNamesResourceFiguresAndNearestHost) {
  on(kBig);
  const JobId id = world->submit("default", {1000, 32'000, 0});
  EXPECT_EQ(reason(id),
            "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE - memory: asked 32000 MiB, largest 31431 MiB (compute "
            "environment 'local', instance type host: 8 vCPU, 31431 MiB)");
  const Explanation why = of(id);
  EXPECT_TRUE(has_line(why, "asks 1 vCPU, 32000 MiB"));
  EXPECT_TRUE(has_line(why,
                       "largest that would ever fit in compute environment 'local': 8 vCPU, 31431 MiB (host, "
                       "maxvCpus 8)"));
}

TEST_F(Explain, WhatMaxVcpusAloneForbidsSaysSo) {
  on(kBig);
  world->environment("small", {type("c5.large", {2000, 4000, 0}), type("c5.xlarge", {4000, 8000, 0})}, 2);
  world->queue("narrow", {"small"});
  const JobId id = world->submit("narrow", {4000, 100, 0});
  EXPECT_TRUE(
      reason(id).ends_with("vCPU: asked 4, largest 2 (compute environment 'small', instance type c5.large: "
                           "2 vCPU, 4000 MiB); maxvCpus of compute environment 'small' is 2"))
      << reason(id);
}

TEST_F(Explain, TheFirstInTheQueueNamesWhatIsShortAndWhoHoldsIt) {
  on(kHost);
  JobSpec spec = World::spec("default", {1000, 5000, 0});
  spec.name = "train";
  spec.attempt_timeout = Duration::seconds(60);
  const JobId holder = world->submit(spec);
  const JobId small = world->submit("default", {1000, 1000, 0});
  const JobId waits = world->submit("default", {1000, 6000, 0});
  const JobId next = world->submit("default", {1000, 100, 0});
  world->decide();
  start(holder);
  EXPECT_EQ(reason(waits),
            "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - first of 2 in queue 'default': memory: asked 6000 MiB, free "
            "2000 of 8000 MiB; held by 00000000 (train, 5000 MiB) and 1 more");
  const Explanation why = of(waits);
  EXPECT_TRUE(has_line(why, "held by " + holder.text() +
                                " (train): 5000 MiB since 1970-01-01T00:00:01Z, until 1970-01-01T00:01:31Z at the "
                                "latest"));
  EXPECT_TRUE(
      has_line(why, "held by " + small.text() + " (job): 1000 MiB since 1970-01-01T00:00:01Z, without a time limit") ||
      has_line(why, "held by " + small.text() + " (job2): 1000 MiB since 1970-01-01T00:00:01Z, without a time limit"));
  EXPECT_TRUE(has_line(why, "free on the host now: 2 vCPU, 2000 MiB, 2 GPU"));
  EXPECT_EQ(reason(next), "Waits behind " + waits.text() + " in queue 'default': place 2 of 2; asks 1 vCPU, 100 MiB");
  EXPECT_TRUE(has_line(of(next), "the first in the queue lacks memory: asked 6000 MiB, free 2000 of 8000 MiB"));
  EXPECT_EQ(of(holder).sentence, "Runs since 1970-01-01T00:00:01Z, until 1970-01-01T00:01:31Z at the latest");
}

TEST_F(Explain, PlacesMoveUpAsJobsStart) {
  on(kHost, 4);
  std::vector<JobId> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(world->submit("default", {4000, 100, 0}));
  world->decide();
  EXPECT_NE(reason(ids[4]).find("place 4 of 4"), std::string::npos);
  world->end(ids[0], fact::Verdict::kSucceeded);
  world->decide();
  EXPECT_NE(reason(ids[4]).find("place 3 of 3"), std::string::npos);
  EXPECT_NE(reason(ids[1]).find("waits"), 0u);
  world->fact(fact::StopRequested{ids[3], {StopKind::kCancel, "no", world->now}});
  world->fact(fact::JobFailed{ids[3], "no"});
  EXPECT_NE(reason(ids[4]).find("place 2 of 2"), std::string::npos);
}

TEST_F(Explain, AnotherSharesTurnIsSaid) {
  on(kHost, 4);
  SchedulingPolicy policy;
  policy.name = "fair";
  world->fact(fact::PolicyPut{policy});
  Queue queue;
  queue.name = "shared";
  queue.environments = {"local"};
  queue.policy = "fair";
  world->fact(fact::QueuePut{queue});
  const auto submit = [&](const char* share) {
    JobSpec spec = World::spec("shared", {4000, 100, 0});
    spec.share = share;
    return world->submit(spec);
  };
  submit("a");
  world->decide();
  world->now = world->now + Duration::seconds(10);
  const JobId second = submit("a");
  const JobId other = submit("b");
  world->decide();
  EXPECT_EQ(reason(second), "Waits behind " + other.text() +
                                " in queue 'shared': place 1 of 1 in share 'a'; share 'b' has its turn: 'a' has used "
                                "more");
}

TEST_F(Explain, ReasonsAreOneLineOfAtMost250Bytes) {
  on(kHost, 4);
  world->queue(std::string(128, 'q'), {"local"});
  JobSpec spec = World::spec(std::string(128, 'q'), {4000, 8000, 2});
  spec.name = std::string(128, 'n');
  std::vector<JobId> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(world->submit(spec));
  world->decide();
  for (size_t i = 1; i < 3; ++i) {
    EXPECT_LE(reason(ids[i]).size(), 250u) << reason(ids[i]);
    EXPECT_EQ(reason(ids[i]).find('\n'), std::string::npos);
  }
}

TEST_F(Explain, WhatEndedAJobIsToldWithItsEvidence) {
  on(kHost, 4);
  JobSpec spec = World::spec("default", {1000, 64, 0});
  spec.retry.attempts = 2;
  const JobId id = world->submit(spec);
  world->decide();
  start(id);
  world->now = world->now + Duration::seconds(5);
  world->end(id, fact::Verdict::kRetry);
  world->decide();
  start(id);
  world->now = world->now + Duration::seconds(2);
  AttemptEnd end;
  end.cause = EndCause::kOutOfMemory;
  end.exit_code = 137;
  end.reason =
      "OutOfMemoryError: Container killed due to memory usage (limit 64 MiB, peak 64 MiB, host h); next time "
      "ask for 96 MiB";
  end.ended = world->now;
  world->fact(fact::AttemptEnded{{id, 2}, end, fact::Verdict::kFailed, "Essential container in task exited"});
  const Explanation why = explain_end(finished(id));
  EXPECT_EQ(why.sentence, end.reason);
  ASSERT_EQ(why.lines.size(), 3u);
  EXPECT_EQ(why.lines[0], "no retry: all attempts are used (retryStrategy.attempts is 2)");
  EXPECT_TRUE(why.lines[1].starts_with(
      "attempt 1: The program ended with exit code 1; ran 5.0 s from 1970-01-01T00:00:01Z on instance i-"))
      << why.lines[1];
  EXPECT_TRUE(why.lines[2].starts_with("attempt 2: OutOfMemoryError")) << why.lines[2];
}

Job ended_with(EndCause cause, int exit_code, int64_t peak_mib, int64_t asked_mib) {
  Job job;
  Attempt attempt;
  attempt.number = 1;
  attempt.allocated.memory_mib = asked_mib;
  attempt.end = AttemptEnd{.cause = cause, .exit_code = exit_code};
  attempt.end->usage.peak_memory_bytes = peak_mib << 20;
  job.spec.attempt_timeout = Duration::seconds(3600);
  job.past = {attempt};
  job.state = exit_code == 0 ? JobState(job_state::Succeeded{}) : JobState(job_state::Failed{});
  return job;
}

// Time limits go by the constant, people read the text.
TEST_F(Explain, TheConstantIsHowTheTextBegins) {
  on(kHost, 4);
  world->fact(fact::ConsumablePut{{"licence", ConsumableKind::kReplenishable, 1, {}, {}, {}}});
  const auto queue = [&]() -> const QueueState& { return world->state.queues().at("default"); };
  JobSpec large = World::spec("default", {1000, 9000, 0});
  JobSpec alien = World::spec("default", {1000, 100, 0});
  alien.image = "busybox:1";
  JobSpec greedy = World::spec("default", {1000, 100, 0});
  greedy.consumables = {{"licence", 2}};
  for (const JobSpec& spec : {large, alien, greedy}) {
    const JobId id = world->submit(spec);
    ASSERT_TRUE(queue().held.contains(world->state.job(id)->order));
    EXPECT_TRUE(reason(id).starts_with(std::string(constant_of_held(world->state, queue(), spec)) + " - "))
        << reason(id);
  }
  world->submit("default", {4000, 100, 0});
  world->decide();
  const JobId head = world->submit("default", {4000, 100, 0});
  world->decide();
  EXPECT_TRUE(reason(head).starts_with(
      std::string(constant_of_head(world->state, queue(), world->state.job(head)->spec)) + " - "));
}

TEST_F(Explain, SaysWhatToAskForNextTime) {
  // 301 MiB and half of it, in steps of 64.
  EXPECT_TRUE(has_line(explain_end(ended_with(EndCause::kExited, 0, 300, 4096)),
                       "next time: 512 MiB of memory would do (peak 301 of 4096 MiB asked)"));
  EXPECT_TRUE(has_line(explain_end(ended_with(EndCause::kTimedOut, 143, 300, 4096)),
                       "next time: it had 1 h 0 min and was not done; 1 h 30 min gives it half as long again"));
  for (const Job& job : {ended_with(EndCause::kExited, 0, 300, 1000), ended_with(EndCause::kExited, 1, 300, 4096)}) {
    for (const std::string& line : explain_end(job).lines) EXPECT_FALSE(line.starts_with("next time")) << line;
  }
}

TEST_F(Explain, AKillByHandIsNotCalledOutOfMemory) {
  Job job;
  Attempt attempt;
  attempt.number = 1;
  attempt.end = AttemptEnd{.exit_code = 137, .reason = "killed by signal 9 (Killed)"};
  attempt.end->usage.peak_memory_bytes = int64_t{60} << 20;
  attempt.end->usage.memory_limit_bytes = int64_t{64} << 20;
  job.past = {attempt};
  job.state = job_state::Failed{};
  EXPECT_EQ(explain_end(job).sentence,
            "The program ended with exit code 137: killed by signal 9 (Killed); peak memory 60 of 64 MiB");
}

TEST_F(Explain, OneStoppedBetweenTwoAttemptsDidNotEndByTheFirst) {
  on(kHost, 4);
  JobSpec spec = World::spec("default", {4000, 100, 0});
  spec.retry.attempts = 3;
  const JobId id = world->submit(spec);
  world->decide();
  world->end(id, fact::Verdict::kRetry);
  world->now = world->now + Duration::seconds(1);
  world->fact(fact::StopRequested{id, {StopKind::kTerminate, "enough", world->now}});
  world->fact(fact::JobFailed{id, "enough"});
  EXPECT_EQ(explain_end(finished(id)).sentence, "Stopped while it waited for its next attempt: enough");
}

TEST_F(Explain, StoppedJobsAndFailedDependenciesAreToldApart) {
  on(kHost, 4);
  const JobId first = world->submit("default", {4000, 100, 0});
  const JobId second = world->submit("default", {4000, 100, 0}, {first});
  const JobId third = world->submit("default", {4000, 100, 0});
  world->decide();
  EXPECT_TRUE(has_line(of(second), "waits for " + first.text() + " (job1): STARTING"));
  world->fact(fact::StopRequested{third, {StopKind::kCancel, "not needed", world->now}});
  world->fact(fact::JobFailed{third, "not needed"});
  EXPECT_EQ(explain_end(finished(third)).sentence, "Stopped before it started: not needed");
  world->end(first, fact::Verdict::kFailed);
  world->decide();
  const Explanation why = explain_end(finished(second));
  EXPECT_EQ(why.sentence, "Dependent job failed: " + first.text() + " (job1)");
  EXPECT_TRUE(has_line(why, "what ended that one: teson explain " + first.text()));
}

}  // namespace
}  // namespace teson
