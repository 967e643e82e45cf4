// The judge: what the committed facts amount to, by rules written a second time and without the code under test.
//
// It is told each durable batch, refuses (throws BrokenInvariant) what breaks a rule, and keeps what a later look at
// the control plane's state, the archive or the agents' world must agree with. Cost: O(log n) per fact.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "domain/fact.h"
#include "domain/launch.h"
#include "sim/faults.h"

namespace teson::sim {

struct JobRecord {
  enum class Phase { kPending, kRunnable, kStarting, kRunning, kSucceeded, kFailed };
  struct Live {
    int number = 0;
    InstanceId instance;
    Resources allocated;
    std::vector<int> gpus;
    std::optional<JobId> behind;    // whose place it waits for
    std::optional<JobId> follower;  // who waits for its place
  };
  uint64_t order = 0;
  JobSpec spec;
  Phase phase = Phase::kRunnable;
  std::vector<AttemptEnd> ends;
  std::optional<Live> live;
  bool stop_asked = false;
  bool throttle_changed = false;  // more may run than a throttle that came later allows
  bool ready = false;             // an array: its children may run
  int unfinished = 0;             // of an array's children
  std::vector<JobId> followers;   // arrays that wait for this one child by child

  bool begun() const { return live || !ends.empty(); }
  bool finished() const { return phase == Phase::kSucceeded || phase == Phase::kFailed; }
};

class Ledger {
 public:
  explicit Ledger(Site site) : site_(std::move(site)) {}

  // One durable batch and the jobs that it finishes. `agent_alive` asks the world.
  using AliveQuery = std::function<bool(const AttemptId&)>;
  void ask_world_with(AliveQuery alive) { alive_ = std::move(alive); }
  void take(std::span<const Fact> facts, std::span<const Job> finished);

  const JobRecord* find(const JobId& id) const;
  // A job as the control plane or the archive shows it.
  void compare(const Job& job) const;

  uint64_t next_order() const { return next_order_; }
  uint64_t submitted() const { return submitted_; }
  // As the control plane counts: a child only between its first attempt and its end.
  size_t live_jobs() const { return live_.size(); }
  size_t archived_jobs() const { return archived_; }
  Resources host_used() const { return host_used_; }
  size_t instance_count() const { return instances_.size(); }
  uint64_t job_steps() const { return job_steps_; }
  // Jobs that the last batches named; whoever compares them clears the list.
  std::vector<JobId>& touched() { return touched_; }
  const std::set<JobId>& live() const { return live_; }
  const std::map<std::string, Queue>& queues() const { return queues_; }
  bool has_consumable(const std::string& name) const { return consumables_.contains(name); }
  size_t consumable_count() const { return consumables_.size(); }
  const std::set<std::string>& policies() const { return policies_; }
  const std::map<std::string, ComputeEnvironment>& environments() const { return environments_; }

  // May this attempt's agent be alive? The reason why not, or empty.
  std::string objection_to(const AttemptId& id) const;

 private:
  struct InstanceRecord {
    Instance value;
    Resources used;
    int attempts = 0;
    bool promise_kept = false;  // whom it was interrupted for has been placed since
    bool excused = false;       // what the promise stood on has changed since
  };

  void on(const fact::EnvironmentPut& f);
  void on(const fact::EnvironmentDeleted& f);
  void on(const fact::QueuePut& f);
  void on(const fact::QueueDeleted& f);
  void on(const fact::DefinitionPut& f);
  void on(const fact::JobSubmitted& f);
  void on(const fact::JobTagged& f);
  void on(const fact::JobReady& f);
  void on(const fact::InstanceStarted& f);
  void on(const fact::InstanceEnded& f);
  void on(const fact::AttemptPlaced& f);
  void on(const fact::AttemptStarted& f);
  void on(const fact::AttemptEnded& f);
  void on(const fact::StopRequested& f);
  void on(const fact::JobFailed& f);
  void on(const fact::ChildrenFailed& f);
  void on(const fact::PolicyPut& f);
  void on(const fact::PolicyDeleted& f);
  void on(const fact::ConsumablePut& f);
  void on(const fact::ConsumableDeleted& f);
  void on(const fact::InstanceInterrupted& f);

  JobRecord& known(const JobId& id, const char* fact_name);
  void step(const JobId& id);
  void finish(const JobId& id, JobRecord& job, bool succeeded);
  void occupy(const JobId& id, const fact::AttemptPlaced& f);
  void wait_behind(const JobId& id, const fact::AttemptPlaced& f);
  void leave(const JobRecord::Live& live);
  void take_consumables(const JobId& id, const JobRecord& job);
  void return_consumables(const JobRecord& job);
  void check_finished(std::span<const Job> finished);
  bool succeeded(const JobId& id) const;
  bool failed(const JobId& id) const;
  bool lets_pass(const JobRecord& waiting, const JobId& id) const;
  // Arrays.
  void submit_children(const JobId& id, const JobRecord& array, bool fails_as_a_whole);
  bool child_may_run(const JobId& id) const;
  std::optional<JobId> neighbour(const JobId& id, int step) const;
  void settle_ends();
  void doom(const JobId& id);
  void compare_children(const Job& job) const;
  int64_t instance_vcpus(const std::string& environment) const;
  // ledger_preemption.cc
  Resources room_to_come() const;
  std::optional<Resources> promised_to_others(const JobId& owner) const;
  void judge_need();
  void judge_promise(const InstanceRecord& ended);
  void judge_placement(const fact::AttemptPlaced& f);
  void judge_interrupted_end(const fact::AttemptEnded& f, const JobRecord& job);
  void excuse_promises();
  bool waits_to_run(const JobId& owner) const;

  Site site_;
  AliveQuery alive_;
  Instant last_at_;
  uint64_t submitted_ = 0;
  uint64_t next_order_ = 1;
  size_t archived_ = 0;
  uint64_t job_steps_ = 0;
  std::unordered_map<JobId, JobRecord> jobs_;
  std::set<JobId> live_;
  std::map<std::string, ComputeEnvironment> environments_;
  std::map<std::string, Queue> queues_;
  std::map<std::string, int> definitions_;  // highest revision
  std::set<std::string> policies_;
  struct ConsumableRecord {
    ConsumableResource value;
    int64_t in_use = 0;
  };
  std::map<std::string, ConsumableRecord> consumables_;
  std::map<InstanceId, InstanceRecord> instances_;
  std::unordered_set<uint64_t> instances_ever_;
  std::map<std::string, int> jobs_in_queue_;
  Resources host_used_;
  std::set<int> gpus_used_;
  std::vector<JobId> touched_;
  std::vector<JobId> finished_now_;
  // The interruptions for one job that follow each other without another fact between: all of one need.
  struct Need {
    JobId owner;
    std::vector<InstanceId> instances;
    Resources room;  // free and to come, without what is promised to others
    bool exact = true;
  };
  std::optional<Need> need_;
  std::vector<JobId> ended_children_;  // whose consequences have not been drawn yet
};

// What must follow the end of an attempt, by the documented rules [AWS Batch, EvaluateOnExit; src/domain/job.h].
fact::Verdict expected_verdict(const JobRecord& job, const AttemptEnd& end, bool array_stopped);

}  // namespace teson::sim
