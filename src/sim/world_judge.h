// The judge of the agents' world: what really runs, and whether the journal permits it. Independent of the control
// plane.
#pragma once

#include <set>
#include <unordered_set>

#include "sim/ledger.h"
#include "sim/sim_launcher.h"

namespace teson::sim {

// Refuses (throws BrokenInvariant): a second agent of one job, an attempt that runs twice, an agent whose attempt is
// not live in the journal, programs that hold more than the host has, a GPU held twice.
class WorldJudge final : public AgentObserver {
 public:
  WorldJudge(const Ledger& ledger, const Site& site) : ledger_(ledger), site_(site) {}

  void agent_began(const LaunchOrder& order) override;
  void agent_ended(const LaunchOrder& order) override;

 private:
  const Ledger& ledger_;
  Site site_;
  std::unordered_set<AttemptId, AttemptHash> ever_;
  std::set<JobId> jobs_alive_;
  std::set<int> gpus_;
  Resources used_;
};

}  // namespace teson::sim
