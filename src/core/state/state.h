// The live state: what the facts so far amount to, with the indexes that deciding needs. Pure: no clock, no I/O.
//
// apply() is the only way it changes. A fact that cannot follow from the state is a broken invariant and aborts: the
// journal never holds one, since facts are made from the same state. Finished jobs leave at once (take_finished).
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/state/rank.h"
#include "domain/environment.h"
#include "domain/fact.h"
#include "domain/job.h"
#include "domain/snapshot.h"

namespace teson {

struct InstanceState {
  Instance value;
  Resources used;
  int attempts = 0;
  Instant idle_since;  // meaningful while attempts == 0

  Resources free() const { return value.size - used; }
};

// What a share of a fair-share queue uses and has used, and what it would run next.
struct ShareState {
  int64_t running = 0;  // thousandths of a vCPU
  int64_t used = 0;     // thousandths of a vCPU second, past ones counted less (scheduler/fair_share.h); as of `at`
  Instant at;
  std::map<std::pair<int, uint64_t>, JobId> ready;  // by -priority and order
  RankedSet<std::pair<int, uint64_t>> places;       // the keys of `ready`
};

// Of an array only the first runnable child stands in `ready` or `held`.
struct QueueState {
  Queue value;
  // Those of its environments that are there and enabled, in its order of preference.
  std::vector<const ComputeEnvironment*> usable_environments;
  std::map<uint64_t, JobId> jobs;   // every live job, by order; children between their first attempt and their end
  std::map<uint64_t, JobId> ready;  // runnable and may be placed, FIFO
  RankedSet<uint64_t> places;       // the keys of `ready`
  std::map<uint64_t, JobId> held;   // runnable but can never be placed as things are (why_never_fits)
  size_t pending = 0;               // of `jobs`, those that wait for others, and arrays
  // Of a fair-share queue: the same `ready`, by share. Shares that neither run, wait nor have used anything are left
  // out.
  std::map<std::string, ShareState> shares;
  // Of a queue with time limits: whose turn it is, and since when. Not kept over a restart, which grants it anew.
  std::optional<JobId> head;
  Instant head_since;
};

// A consumable resource, what live attempts have of it, and whom its amount concerns.
struct ConsumableState {
  struct Ask {
    int64_t quantity = 0;
    std::string queue;
    uint64_t order = 0;

    friend auto operator<=>(const Ask&, const Ask&) = default;
  };
  ConsumableResource value;
  int64_t in_use = 0;              // may be above the total once that was lowered
  std::map<uint64_t, JobId> jobs;  // live ones that ask for it, by order; an array for all its children
  std::set<Ask> waiting;           // of those that stand in a queue's `ready` or `held`

  int64_t available() const { return std::max<int64_t>(value.total - in_use, 0); }
};

struct EnvironmentInstances {
  std::vector<const InstanceState*> by_id;
  int64_t milli_vcpus = 0;
};

// How the reason of a job begins that failed because another one did.
inline const std::string kDependentFailed = "Dependent job failed: ";

// What is next to be placed: a runnable job, or an array's child that may never have had an attempt.
struct Candidate {
  JobId id;
  const JobSpec* spec = nullptr;
  int attempt = 1;
};

class State {
 public:
  explicit State(Site site);
  State(Site site, Snapshot snapshot);
  // A copy's indexes would point into the original: State(site, snapshot()) makes one.
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = default;
  State& operator=(State&&) = default;

  void apply(const Fact& fact);
  // The jobs that the facts since the last call finished, in order. They are no longer in the state.
  std::vector<Job> take_finished();
  Snapshot snapshot() const;

  const Site& site() const { return site_; }
  Instant last_fact_at() const { return last_fact_at_; }
  uint64_t next_order() const { return next_order_; }
  uint64_t instances_started() const { return instances_started_; }

  const Job* job(const JobId& id) const;
  // Of a child that has no Job, from its array's letters; nullopt if nothing is known of it: it is not live.
  std::optional<char> child_letter(const JobId& id) const;
  // Whether it is there and has not ended: a job, an array, a child.
  bool is_unfinished(const JobId& id) const;
  Candidate candidate(const JobId& id) const;
  // Which job may be placed in this one's stead: itself, or of an array the child that stands in the queue; nullopt:
  // it does not wait for a place, or can have none.
  std::optional<JobId> ready_for(const JobId& id) const;
  // Those with a live attempt on the instance, each after the one whose place it waits for. Cost: O(live attempts).
  std::vector<JobId> jobs_on(const InstanceId& id) const;
  size_t job_count() const { return jobs_.size(); }
  const std::unordered_map<JobId, Job>& jobs() const { return jobs_; }
  const std::map<std::string, ComputeEnvironment>& environments() const { return environments_; }
  const std::map<std::string, QueueState>& queues() const { return queues_; }
  // The order in which queues are served: priority, larger first, then name.
  const std::vector<const QueueState*>& queues_by_priority() const { return queues_by_priority_; }
  const std::map<std::string, std::map<int, JobDefinition>>& definitions() const { return definitions_; }
  const std::map<std::string, SchedulingPolicy>& policies() const { return policies_; }
  const std::map<std::string, ConsumableState>& consumables() const { return consumables_; }
  // Of a fair-share queue; null for others.
  const SchedulingPolicy* policy_of(const Queue& queue) const;
  const std::map<InstanceId, InstanceState>& instances() const { return instances_; }
  // By the name of their compute environment; one without instances is not there.
  const std::map<std::string, EnvironmentInstances>& instances_by_environment() const {
    return instances_by_environment_;
  }
  // Those that are being taken back and have not ended.
  const std::set<InstanceId>& interrupted() const { return interrupted_; }
  // For whom the last fact interrupted an instance; nullopt: it did something else.
  const std::optional<JobId>& interrupting() const { return interrupting_; }
  const std::vector<const InstanceState*>& instances_of(const std::string& environment) const;  // by id
  int64_t instance_vcpus_of(const std::string& environment) const;                              // thousandths

  Resources host_free() const { return site_.host - host_used_; }
  Resources host_used() const { return host_used_; }
  // Whose live attempts hold a place on the host; one that waits behind another holds none yet.
  const std::set<JobId>& holders() const { return holders_; }
  // Who waits for the place of this job's live attempt; nullopt: nobody.
  std::optional<JobId> follower_of(const JobId& id) const;
  // Of a spread array: how long its children run, and which hold places.
  struct Pace {
    int ended = 0;                          // attempts of children, since the server started
    Duration run;                           // of those, in all
    const std::set<int>* places = nullptr;  // children that hold a place, not those behind them
  };
  Pace pace_of(const JobId& array) const;

  // The `count` lowest GPU indexes of the host that no attempt holds; fewer if there are fewer.
  std::vector<int> free_gpus(int64_t count) const;

  // Consequences of earlier facts that have not been decided yet.
  const std::set<JobId>& ready_dependents() const { return ready_dependents_; }
  const std::map<JobId, std::string>& doomed_dependents() const { return doomed_dependents_; }

 private:
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

  Job& known_job(const JobId& id);
  Job& job_to_place(const JobId& id);
  QueueState& queue_of(const Job& job);
  void make_runnable(Job& job);
  void list(QueueState& queue, uint64_t order, const JobId& id, const JobSpec& spec);
  void unlist(QueueState& queue, uint64_t order, const JobSpec& spec);
  void watch_heads();
  void charge_share(QueueState& queue, const JobSpec& spec, int64_t milli_vcpus);
  void find_environments(QueueState& queue) const;
  void review_queue(QueueState& queue);
  void order_queues();
  void review_queues_of(const std::string& environment);
  void index_instance(const InstanceState& instance);
  void occupy(const JobId& id, const Attempt& attempt);
  std::optional<JobId> vacate(const JobId& id, const Attempt& attempt);
  void hold_place(const JobId& id, bool holds);
  void keep_promise(const JobId& placed);
  void finish(Job& job, JobState end);
  void release_dependents(const JobId& id, const std::string& name, const std::string& reason, bool succeeded);
  void index_job(Job& job);

  // consumables.cc
  bool may_ever_run(const QueueState& queue, const JobSpec& spec) const;
  void note_asker(const Job& job);
  void forget_asker(const Job& job);
  void note_waiting(const QueueState& queue, uint64_t order, const JobSpec& spec, bool waits);
  void take_consumables(const JobSpec& spec);
  void return_consumables(const JobSpec& spec, bool used_up);
  void change_total(ConsumableState& consumable, int64_t total);

  // arrays.cc
  void watch_counterparts(const Job& array);
  void spread(Job& array);
  void index_array(Job& array);
  bool may_run(const Job& array, int index) const;
  void set_letter(Job& array, int index, char letter);
  void fail_waiting_child(Job& array, int index, const std::string& reason);
  void child_ended(const JobId& id, bool succeeded);
  void settle_child_ends();
  void settle_successor(Job& array, int index, bool succeeded);
  void settle_counterparts(const JobId& ended, bool succeeded);
  void note_pace(const JobId& child, const AttemptEnd& end);
  void list_first_child(Job& array);
  void unlist_child(Job& array);
  void finish_array(Job& array);

  Site site_;
  Instant now_;
  Instant last_fact_at_;
  uint64_t next_order_ = 1;
  uint64_t instances_started_ = 0;
  std::map<std::string, ComputeEnvironment> environments_;
  std::map<std::string, QueueState> queues_;
  std::vector<const QueueState*> queues_by_priority_;
  std::map<std::string, std::map<int, JobDefinition>> definitions_;
  std::map<std::string, SchedulingPolicy> policies_;
  std::map<std::string, ConsumableState> consumables_;
  std::map<InstanceId, InstanceState> instances_;
  std::map<std::string, EnvironmentInstances> instances_by_environment_;
  std::set<InstanceId> interrupted_;
  std::optional<JobId> interrupting_;
  std::unordered_map<JobId, Job> jobs_;
  std::unordered_map<JobId, std::vector<JobId>> dependents_;
  std::unordered_map<JobId, JobId> followers_;  // who waits for whose place
  std::set<JobId> ready_dependents_;
  std::map<JobId, std::string> doomed_dependents_;
  Resources host_used_;
  std::set<JobId> holders_;
  std::vector<bool> gpu_used_;
  std::vector<QueueState*> limited_queues_;  // those with time limits
  std::vector<Job> finished_;

  struct ArrayIndex {
    int unfinished = 0;
    size_t no_runnable_below = 0;     // a hint: every runnable child is here or above
    std::optional<int> listed;        // the child that stands in its queue's ready or held
    std::vector<JobId> counterparts;  // arrays whose children wait for ours, one for one
    int ended = 0;                    // attempts of children
    Duration run;                     // of those, in all
    std::set<int> places;             // children that hold a place, not those behind them
  };
  std::unordered_map<JobId, ArrayIndex> arrays_;
  struct ChildEnd {
    JobId id;
    bool succeeded = false;
  };
  std::vector<ChildEnd> child_ends_;  // whose consequences have not been drawn yet; empty between facts
};

}  // namespace teson
