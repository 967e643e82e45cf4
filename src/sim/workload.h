// Seeded clients: a stream of every kind of command, and what a careful client does with each answer or with none.
//
// A submit that was refused as unavailable or never answered is followed up: ask the loop whether the job is live, then
// the history whether it has ended, and only if neither knows it send it again (control/commands.h, SubmitJob).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/commands.h"
#include "control/controller.h"
#include "ports/history.h"
#include "sim/faults.h"
#include "sim/ledger.h"
#include "sim/timeline.h"

namespace teson::sim {

class Workload {
 public:
  // The way to the control plane. Both are false when nobody listens: nothing was sent.
  struct Server {
    std::function<bool(Command, CommandReply)> submit;
    std::function<bool(std::function<void(const Controller&)>)> ask;
    std::function<bool()> last_failure_kept_nothing;
  };
  struct Surroundings {
    Timeline& timeline;
    const History& history;
    const Ledger& ledger;
    const Sabotage& sabotage;
    Coverage& coverage;
    Site site;
  };

  Workload(Prng prng, Server server, Surroundings around);

  // One command more; perhaps none where it may not be a new job.
  void send_something(bool may_submit);
  // The server died: what was asked and not answered never will be.
  void connection_lost();
  // Enables every queue and compute environment.
  void open_everything();
  bool idle() const { return outstanding_.empty() && follow_ups_ == 0; }

 private:
  using Submit = std::shared_ptr<const command::SubmitJob>;

  void send(Command command, Submit submit);
  void send_submit(Submit submit);
  void answered(const Submit& submit, const Result<Accepted>& result);
  void follow_up_later(Submit submit);
  void follow_up(const Submit& submit);
  void look_up_dependencies(command::SubmitJob submit, const std::vector<JobId>& unknown);

  std::optional<Command> random_command();
  command::SubmitJob random_submit();
  Command random_registry_command();
  Command random_job_command();
  ComputeEnvironment random_environment(const std::string& name);
  std::vector<std::string> random_environment_order();
  RetryStrategy random_retry();
  Resources random_resources();
  ArraySpec random_array(const JobId& id);
  SchedulingPolicy random_policy(const std::string& name);
  JobId recent_job();
  JobId random_id();
  uint64_t below(uint64_t bound) { return prng_.below(bound); }
  bool chance(double probability) { return prng_.chance(probability); }

  Prng prng_;
  Server server_;
  Surroundings around_;
  uint64_t requests_ = 0;
  int follow_ups_ = 0;
  std::map<uint64_t, Submit> outstanding_;  // by request; null for another command than a submit
  std::vector<JobId> jobs_;
  std::vector<std::pair<JobId, int>> arrays_;  // with their sizes
  double arrays_share_ = 0;                    // of what is submitted
};

}  // namespace teson::sim
