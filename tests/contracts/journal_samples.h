// Facts and jobs to fill a journal with: built by hand, so that a test can say what it expects of them.
#pragma once

#include <string>
#include <vector>

#include "domain/fact.h"

namespace teson::contract {

inline JobId sample_id(uint64_t n) { return JobId{Uuid{0x11111111'2222'4333ULL, 0x8000'000000000000ULL + n}}; }

inline JobSpec sample_spec(const std::string& name) {
  JobSpec spec;
  spec.name = name;
  spec.queue = "default";
  spec.definition = "train";
  spec.definition_revision = 1;
  spec.image = "host";
  spec.command = {"python3", "train.py", "--epochs", "3"};
  spec.environment = {{"SEED", "1"}, {"NAME", "\"quoted\" \n \xC3\xB1"}};
  spec.resources = {2000, 4096, 0};
  return spec;
}

inline Attempt sample_attempt(int number) {
  Attempt attempt;
  attempt.number = number;
  attempt.instance = InstanceId{0xABC};
  attempt.environment = "local";
  attempt.allocated = {2000, 4096, 0};
  attempt.log_stream = "train/default/" + std::to_string(number);
  attempt.placed = Instant{1'000'000};
  return attempt;
}

// A finished job; created at `order` seconds.
inline Job sample_finished(uint64_t order, const std::string& name = "train-1", bool succeeded = true) {
  Job job;
  job.id = sample_id(order);
  job.order = order;
  job.spec = sample_spec(name);
  job.created = Instant{static_cast<int64_t>(order) * 1'000'000};
  Attempt attempt = sample_attempt(1);
  attempt.started = Instant{2'000'000};
  attempt.end = AttemptEnd{
      EndCause::kExited, succeeded ? 0 : 1, "", "Essential container in task exited", Instant{3'000'000}, Usage{}};
  job.past = {attempt};
  job.status_reason = "Essential container in task exited";
  if (succeeded) {
    job.state = job_state::Succeeded{Instant{3'000'000}};
  } else {
    job.state = job_state::Failed{Instant{3'000'000}};
  }
  return job;
}

inline Fact submitted(uint64_t n) {
  return {Instant{static_cast<int64_t>(n)},
          fact::JobSubmitted{sample_id(n), sample_spec("job-" + std::to_string(n)), {}}};
}

// One of each kind, with every optional field set at least once.
inline std::vector<Fact> one_of_each() {
  ComputeEnvironment environment;
  environment.name = "local";
  environment.market = Market::kSpot;
  environment.instance_types = {{"m5.large", {2000, 8192, 0}, Money{96'000}, Money{35'000}}};
  environment.max_vcpus = 64;
  environment.tags = {{"team", "vision"}};
  environment.created = Instant{5};
  environment.document = R"({"type":"MANAGED"})";
  Queue queue;
  queue.name = "default";
  queue.deleting = true;
  queue.priority = 10;
  queue.environments = {"local", "local-spot"};
  queue.policy = "fair";
  queue.time_limits = {{"CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", 600}};
  queue.created = Instant{6};
  queue.document = "{}";
  JobDefinition definition{"train", 3, true, {{"a", "b"}}, Instant{7}, "{}", "ana"};
  JobSpec spec = sample_spec("all-fields");
  spec.retry = {
      3,
      {{"Host EC2*", std::nullopt, "1*", RetryAction::kRetry}, {std::nullopt, "*", std::nullopt, RetryAction::kExit}}};
  spec.attempt_timeout = Duration::seconds(3600);
  spec.depends_on = {sample_id(2)};
  spec.after_any = true;
  spec.array = ArraySpec{.size = 3, .only = {0, 2}, .sequential = true, .n_to_n = {sample_id(3)}, .throttle = 2};
  spec.tags = {{"teson:grace", "5"}};
  spec.share = "teamA";
  spec.priority = -4;
  spec.grace = Duration::seconds(5);
  spec.interruptions_use_attempts = false;
  spec.working_directory = "/srv/work";
  spec.document = R"({"image":"host"})";
  spec.owner = "ana";
  spec.consumables = {{"licence", 2}};
  Attempt attempt = sample_attempt(1);
  attempt.gpus = {0, 3};
  const AttemptEnd end{EndCause::kOutOfMemory,
                       137,
                       "OutOfMemoryError",
                       "Essential container in task exited",
                       Instant{90},
                       Usage{1 << 30, 2 << 20, Duration{11}, Duration{12}, Duration{13}}};
  const Instance instance{InstanceId{0xFEDCBA9876543210},
                          "local",
                          "m5.large",
                          Market::kOnDemand,
                          {2000, 8192, 1},
                          Money{96'000},
                          Instant{8}};
  return {
      {Instant{1}, fact::EnvironmentPut{environment}},
      {Instant{2}, fact::EnvironmentDeleted{"old"}},
      {Instant{3}, fact::QueuePut{queue}},
      {Instant{4}, fact::QueueDeleted{"old"}},
      {Instant{5}, fact::DefinitionPut{definition}},
      {Instant{6}, fact::JobSubmitted{sample_id(1), spec, {sample_id(2)}, {2}}},
      {Instant{7}, fact::JobTagged{sample_id(1), {{"k", "v"}}, 5}},
      {Instant{8}, fact::JobReady{sample_id(1)}},
      {Instant{9}, fact::InstanceStarted{instance}},
      {Instant{10}, fact::InstanceEnded{instance.id, "idle"}},
      {Instant{11}, fact::AttemptPlaced{sample_id(1), attempt}},
      {Instant{12}, fact::AttemptStarted{{sample_id(1), 1}, Instant{12}, "train/default/1"}},
      {Instant{13}, fact::AttemptEnded{{sample_id(1), 1}, end, fact::Verdict::kRetry, "OutOfMemoryError"}},
      {Instant{14}, fact::StopRequested{sample_id(1), {StopKind::kCancel, "not needed", Instant{14}}}},
      {Instant{15}, fact::JobFailed{sample_id(1), "cancelled"}},
      {Instant{16}, fact::ChildrenFailed{sample_id(1), 0, 2, "cancelled"}},
      {Instant{17},
       fact::PolicyPut{{"fair", 3600, 20, {{"teamA", 5'000}, {"team*", 10'000}}, {{"a", "b"}}, Instant{9}}}},
      {Instant{18}, fact::PolicyDeleted{"old"}},
      {Instant{19},
       fact::ConsumablePut{{"licence", ConsumableKind::kNonReplenishable, 7, {{"a", "b"}}, Instant{9}, "token"}}},
      {Instant{20}, fact::ConsumableDeleted{"old"}},
      {Instant{21},
       fact::InstanceInterrupted{instance.id, Instant{49}, "interrupted for on-demand job 11111111", sample_id(1)}},
  };
}

}  // namespace teson::contract
