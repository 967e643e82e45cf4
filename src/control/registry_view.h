// Environments, queues and definitions as last committed, for readers on any thread.
//
// The loop's own state stays private to its thread; this is a second, published copy of the small, rarely changing
// part that every request needs. Values are immutable: a change replaces the pointer.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "domain/environment.h"
#include "domain/fact.h"

namespace teson {

class State;

class RegistryView {
 public:
  std::shared_ptr<const ComputeEnvironment> environment(const std::string& name) const;
  std::shared_ptr<const Queue> queue(const std::string& name) const;
  // Revision 0: the latest active one.
  std::shared_ptr<const JobDefinition> definition(const std::string& name, int revision) const;

  std::shared_ptr<const SchedulingPolicy> policy(const std::string& name) const;

  std::vector<std::shared_ptr<const ComputeEnvironment>> environments() const;  // by name
  std::vector<std::shared_ptr<const SchedulingPolicy>> policies() const;        // by name
  std::vector<std::shared_ptr<const Queue>> queues() const;                     // by name
  std::vector<std::shared_ptr<const JobDefinition>> definitions() const;        // by name, revision descending

  // For the loop only.
  void reset(const State& state);
  void apply(const Fact& fact);

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::string, std::shared_ptr<const ComputeEnvironment>> environments_;
  std::map<std::string, std::shared_ptr<const Queue>> queues_;
  std::map<std::string, std::shared_ptr<const SchedulingPolicy>> policies_;
  std::map<std::string, std::map<int, std::shared_ptr<const JobDefinition>, std::greater<>>> definitions_;
};

}  // namespace teson
