#include "control/registry_view.h"

#include <mutex>

#include "core/state/state.h"

namespace teson {
namespace {

template <class T>
std::vector<std::shared_ptr<const T>> values_of(const std::map<std::string, std::shared_ptr<const T>>& map) {
  std::vector<std::shared_ptr<const T>> out;
  out.reserve(map.size());
  for (const auto& [name, value] : map) out.push_back(value);
  return out;
}

template <class T>
std::shared_ptr<const T> find_in(const std::map<std::string, std::shared_ptr<const T>>& map, const std::string& name) {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : found->second;
}

}  // namespace

std::shared_ptr<const ComputeEnvironment> RegistryView::environment(const std::string& name) const {
  const std::shared_lock lock(mutex_);
  return find_in(environments_, name);
}

std::shared_ptr<const Queue> RegistryView::queue(const std::string& name) const {
  const std::shared_lock lock(mutex_);
  return find_in(queues_, name);
}

std::shared_ptr<const SchedulingPolicy> RegistryView::policy(const std::string& name) const {
  const std::shared_lock lock(mutex_);
  return find_in(policies_, name);
}

std::shared_ptr<const JobDefinition> RegistryView::definition(const std::string& name, int revision) const {
  const std::shared_lock lock(mutex_);
  const auto found = definitions_.find(name);
  if (found == definitions_.end()) return nullptr;
  if (revision != 0) {
    const auto exact = found->second.find(revision);
    return exact == found->second.end() ? nullptr : exact->second;
  }
  for (const auto& [number, definition] : found->second) {
    if (definition->active) return definition;
  }
  return nullptr;
}

std::vector<std::shared_ptr<const ComputeEnvironment>> RegistryView::environments() const {
  const std::shared_lock lock(mutex_);
  return values_of(environments_);
}

std::vector<std::shared_ptr<const Queue>> RegistryView::queues() const {
  const std::shared_lock lock(mutex_);
  return values_of(queues_);
}

std::vector<std::shared_ptr<const SchedulingPolicy>> RegistryView::policies() const {
  const std::shared_lock lock(mutex_);
  return values_of(policies_);
}

std::vector<std::shared_ptr<const JobDefinition>> RegistryView::definitions() const {
  const std::shared_lock lock(mutex_);
  std::vector<std::shared_ptr<const JobDefinition>> out;
  for (const auto& [name, revisions] : definitions_) {
    for (const auto& [number, definition] : revisions) out.push_back(definition);
  }
  return out;
}

void RegistryView::reset(const State& state) {
  const std::unique_lock lock(mutex_);
  environments_.clear();
  queues_.clear();
  policies_.clear();
  definitions_.clear();
  for (const auto& [name, value] : state.environments()) {
    environments_[name] = std::make_shared<const ComputeEnvironment>(value);
  }
  for (const auto& [name, value] : state.policies()) policies_[name] = std::make_shared<const SchedulingPolicy>(value);
  for (const auto& [name, queue] : state.queues()) queues_[name] = std::make_shared<const Queue>(queue.value);
  for (const auto& [name, revisions] : state.definitions()) {
    for (const auto& [revision, value] : revisions) {
      definitions_[name][revision] = std::make_shared<const JobDefinition>(value);
    }
  }
}

void RegistryView::apply(const Fact& fact) {
  const auto* body = &fact.body;
  if (const auto* put = std::get_if<fact::EnvironmentPut>(body)) {
    auto value = std::make_shared<const ComputeEnvironment>(put->value);
    const std::unique_lock lock(mutex_);
    environments_[put->value.name] = std::move(value);
  } else if (const auto* deleted = std::get_if<fact::EnvironmentDeleted>(body)) {
    const std::unique_lock lock(mutex_);
    environments_.erase(deleted->name);
  } else if (const auto* queue = std::get_if<fact::QueuePut>(body)) {
    auto value = std::make_shared<const Queue>(queue->value);
    const std::unique_lock lock(mutex_);
    queues_[queue->value.name] = std::move(value);
  } else if (const auto* gone = std::get_if<fact::QueueDeleted>(body)) {
    const std::unique_lock lock(mutex_);
    queues_.erase(gone->name);
  } else if (const auto* policy = std::get_if<fact::PolicyPut>(body)) {
    auto value = std::make_shared<const SchedulingPolicy>(policy->value);
    const std::unique_lock lock(mutex_);
    policies_[policy->value.name] = std::move(value);
  } else if (const auto* dropped = std::get_if<fact::PolicyDeleted>(body)) {
    const std::unique_lock lock(mutex_);
    policies_.erase(dropped->name);
  } else if (const auto* definition = std::get_if<fact::DefinitionPut>(body)) {
    auto value = std::make_shared<const JobDefinition>(definition->value);
    const std::unique_lock lock(mutex_);
    definitions_[definition->value.name][definition->value.revision] = std::move(value);
  }
}

}  // namespace teson
