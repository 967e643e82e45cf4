// What each domain value looks like in JSON: one description, used by the writer and by the reader alike.
//
// To add a field: one line here (and it is optional for readers by nature). To add a kind of fact: its fields() and
// its name in kind_name(). Never rename a key or an enum's word, and never give one another meaning: see README.md.
#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>

#include "domain/fact.h"
#include "domain/snapshot.h"

namespace teson::codec {

// fields() takes a value that is const for the writer and not for the reader.
template <class T, class U>
concept Of = std::same_as<std::remove_const_t<T>, U>;

// --- words of the enums -------------------------------------------------------------------------------------------

template <class E>
struct Word {
  E value;
  std::string_view text;
};

template <class E>
inline constexpr Word<E> kWords[1] = {};
template <>
inline constexpr Word<Market> kWords<Market>[] = {{Market::kOnDemand, "on_demand"}, {Market::kSpot, "spot"}};
template <>
inline constexpr Word<RetryAction> kWords<RetryAction>[] = {{RetryAction::kRetry, "retry"},
                                                            {RetryAction::kExit, "exit"}};
template <>
inline constexpr Word<EndCause> kWords<EndCause>[] = {
    {EndCause::kExited, "exited"},   {EndCause::kOutOfMemory, "out_of_memory"},
    {EndCause::kStopped, "stopped"}, {EndCause::kTimedOut, "timed_out"},
    {EndCause::kLost, "lost"},       {EndCause::kLaunchFailed, "launch_failed"}};
template <>
inline constexpr Word<StopKind> kWords<StopKind>[] = {{StopKind::kCancel, "cancel"},
                                                      {StopKind::kTerminate, "terminate"}};
template <>
inline constexpr Word<ConsumableKind> kWords<ConsumableKind>[] = {
    {ConsumableKind::kReplenishable, "replenishable"}, {ConsumableKind::kNonReplenishable, "non_replenishable"}};
template <>
inline constexpr Word<fact::Verdict> kWords<fact::Verdict>[] = {
    {fact::Verdict::kRetry, "retry"}, {fact::Verdict::kSucceeded, "succeeded"}, {fact::Verdict::kFailed, "failed"}};

// --- names of the variants' alternatives --------------------------------------------------------------------------

template <class T>
inline constexpr std::string_view kKind = {};
template <>
inline constexpr std::string_view kKind<fact::EnvironmentPut> = "environment_put";
template <>
inline constexpr std::string_view kKind<fact::EnvironmentDeleted> = "environment_deleted";
template <>
inline constexpr std::string_view kKind<fact::QueuePut> = "queue_put";
template <>
inline constexpr std::string_view kKind<fact::QueueDeleted> = "queue_deleted";
template <>
inline constexpr std::string_view kKind<fact::DefinitionPut> = "definition_put";
template <>
inline constexpr std::string_view kKind<fact::JobSubmitted> = "job_submitted";
template <>
inline constexpr std::string_view kKind<fact::JobTagged> = "job_tagged";
template <>
inline constexpr std::string_view kKind<fact::JobReady> = "job_ready";
template <>
inline constexpr std::string_view kKind<fact::InstanceStarted> = "instance_started";
template <>
inline constexpr std::string_view kKind<fact::InstanceEnded> = "instance_ended";
template <>
inline constexpr std::string_view kKind<fact::AttemptPlaced> = "attempt_placed";
template <>
inline constexpr std::string_view kKind<fact::AttemptStarted> = "attempt_started";
template <>
inline constexpr std::string_view kKind<fact::AttemptEnded> = "attempt_ended";
template <>
inline constexpr std::string_view kKind<fact::StopRequested> = "stop_requested";
template <>
inline constexpr std::string_view kKind<fact::JobFailed> = "job_failed";
template <>
inline constexpr std::string_view kKind<fact::ChildrenFailed> = "children_failed";

template <>
inline constexpr std::string_view kKind<fact::PolicyPut> = "policy_put";
template <>
inline constexpr std::string_view kKind<fact::PolicyDeleted> = "policy_deleted";
template <>
inline constexpr std::string_view kKind<fact::ConsumablePut> = "consumable_put";
template <>
inline constexpr std::string_view kKind<fact::ConsumableDeleted> = "consumable_deleted";
template <>
inline constexpr std::string_view kKind<fact::InstanceInterrupted> = "instance_interrupted";

template <>
inline constexpr std::string_view kKind<job_state::Pending> = "pending";
template <>
inline constexpr std::string_view kKind<job_state::Runnable> = "runnable";
template <>
inline constexpr std::string_view kKind<job_state::Starting> = "starting";
template <>
inline constexpr std::string_view kKind<job_state::Running> = "running";
template <>
inline constexpr std::string_view kKind<job_state::Succeeded> = "succeeded";
template <>
inline constexpr std::string_view kKind<job_state::Failed> = "failed";
template <>
inline constexpr std::string_view kKind<job_state::Spread> = "spread";

// --- values -------------------------------------------------------------------------------------------------------

void fields(auto& v, Of<Resources> auto& x) {
  v("milli_vcpus", x.milli_vcpus);
  v("memory_mib", x.memory_mib);
  v("gpus", x.gpus);
}

void fields(auto& v, Of<InstanceType> auto& x) {
  v("name", x.name);
  v("size", x.size);
  v("on_demand_hour_micro_usd", x.on_demand_hour);
  v("spot_hour_micro_usd", x.spot_hour);
}

void fields(auto& v, Of<ComputeEnvironment> auto& x) {
  v.required("name", x.name);
  v("enabled", x.enabled);
  v("market", x.market);
  v("instance_types", x.instance_types);
  v("min_vcpus", x.min_vcpus);
  v("max_vcpus", x.max_vcpus);
  v("desired_vcpus", x.desired_vcpus);
  v("tags", x.tags);
  v("created_us", x.created);
  v("document", x.document);
}

void fields(auto& v, Of<TimeLimit> auto& x) {
  v.required("reason", x.reason);
  v("max_seconds", x.max_seconds);
}

void fields(auto& v, Of<Queue> auto& x) {
  v.required("name", x.name);
  v("enabled", x.enabled);
  v("deleting", x.deleting);
  v("priority", x.priority);
  v("environments", x.environments);
  v("policy", x.policy);
  v("time_limits", x.time_limits);
  v("tags", x.tags);
  v("created_us", x.created);
  v("document", x.document);
}

void fields(auto& v, Of<JobDefinition> auto& x) {
  v.required("name", x.name);
  v.required("revision", x.revision);
  v("active", x.active);
  v("tags", x.tags);
  v("created_us", x.created);
  v("document", x.document);
  v("owner", x.owner);
}

void fields(auto& v, Of<ShareWeight> auto& x) {
  v.required("identifier", x.identifier);
  v("weight_e4", x.weight_e4);
}

void fields(auto& v, Of<SchedulingPolicy> auto& x) {
  v.required("name", x.name);
  v("decay_seconds", x.decay_seconds);
  v("compute_reservation", x.compute_reservation);
  v("shares", x.shares);
  v("tags", x.tags);
  v("created_us", x.created);
}

void fields(auto& v, Of<ShareRecord> auto& x) {
  v.required("queue", x.queue);
  v.required("share", x.share);
  v("used", x.used);
  v("at_us", x.at);
}

void fields(auto& v, Of<Interruption> auto& x) {
  v("at_us", x.at);
  v("until_us", x.until);
  v("reason", x.reason);
  v("for_job", x.for_job);
}

void fields(auto& v, Of<Instance> auto& x) {
  v.required("id", x.id);
  v("environment", x.environment);
  v("type", x.type);
  v("market", x.market);
  v("size", x.size);
  v("price_hour_micro_usd", x.price_hour);
  v("started_us", x.started);
  v("interruption", x.interruption);
}

void fields(auto& v, Of<RetryRule> auto& x) {
  v("on_status_reason", x.on_status_reason);
  v("on_reason", x.on_reason);
  v("on_exit_code", x.on_exit_code);
  v("action", x.action);
}

void fields(auto& v, Of<RetryStrategy> auto& x) {
  v("attempts", x.attempts);
  v("rules", x.rules);
}

void fields(auto& v, Of<ArraySpec> auto& x) {
  v.required("size", x.size);
  v("only", x.only);
  v("sequential", x.sequential);
  v("n_to_n", x.n_to_n);
  v("throttle", x.throttle);
}

void fields(auto& v, Of<ChildrenFailure> auto& x) {
  v.required("first", x.first);
  v.required("last", x.last);
  v("reason", x.reason);
  v("at_us", x.at);
}

void fields(auto& v, Of<ArrayProgress> auto& x) {
  v.required("children", x.children);
  v("failures", x.failures);
}

void fields(auto& v, Of<ConsumableAsk> auto& x) {
  v.required("name", x.name);
  v("quantity", x.quantity);
}

void fields(auto& v, Of<ConsumableResource> auto& x) {
  v.required("name", x.name);
  v("kind", x.kind);
  v("total", x.total);
  v("tags", x.tags);
  v("created_us", x.created);
  v("last_token", x.last_token);
}

void fields(auto& v, Of<JobSpec> auto& x) {
  v("name", x.name);
  v("queue", x.queue);
  v("definition", x.definition);
  v("definition_revision", x.definition_revision);
  v("image", x.image);
  v("command", x.command);
  v("environment", x.environment);
  v("resources", x.resources);
  v("retry", x.retry);
  v("attempt_timeout_us", x.attempt_timeout);
  v("depends_on", x.depends_on);
  v("after_any", x.after_any);
  v("array", x.array);
  v("tags", x.tags);
  v("share", x.share);
  v("priority", x.priority);
  v("grace_us", x.grace);
  v("interruptions_use_attempts", x.interruptions_use_attempts);
  v("working_directory", x.working_directory);
  v("document", x.document);
  v("owner", x.owner);
  v("consumables", x.consumables);
}

void fields(auto& v, Of<Usage> auto& x) {
  v("peak_memory_bytes", x.peak_memory_bytes);
  v("memory_limit_bytes", x.memory_limit_bytes);
  v("user_cpu_us", x.user_cpu);
  v("system_cpu_us", x.system_cpu);
  v("run_us", x.run);
}

void fields(auto& v, Of<AttemptEnd> auto& x) {
  v.required("cause", x.cause);
  v("exit_code", x.exit_code);
  v("reason", x.reason);
  v("status_reason", x.status_reason);
  v("ended_us", x.ended);
  v("usage", x.usage);
}

void fields(auto& v, Of<Attempt> auto& x) {
  v.required("number", x.number);
  v.required("instance", x.instance);
  v("environment", x.environment);
  v("allocated", x.allocated);
  v("gpus", x.gpus);
  v("log_stream", x.log_stream);
  v("placed_us", x.placed);
  v("started_us", x.started);
  v("end", x.end);
  v("behind", x.behind);
}

void fields(auto& v, Of<job_state::Pending> auto& x) { v("waiting_for", x.waiting_for); }
void fields(auto& v, Of<job_state::Runnable> auto& x) { v("since_us", x.since); }
void fields(auto& v, Of<job_state::Starting> auto& x) { v.required("attempt", x.attempt); }
void fields(auto& v, Of<job_state::Running> auto& x) { v.required("attempt", x.attempt); }
void fields(auto& v, Of<job_state::Succeeded> auto& x) { v("stopped_us", x.stopped); }
void fields(auto& v, Of<job_state::Failed> auto& x) { v("stopped_us", x.stopped); }
void fields(auto& v, Of<job_state::Spread> auto& x) { v("since_us", x.since); }

void fields(auto& v, Of<StopRequest> auto& x) {
  v.required("kind", x.kind);
  v("reason", x.reason);
  v("at_us", x.at);
}

void fields(auto& v, Of<Job> auto& x) {
  v.required("id", x.id);
  v.required("order", x.order);
  // A child's is its array's: ten thousand copies would say nothing new.
  if (!x.id.is_child()) v("spec", x.spec);
  v("created_us", x.created);
  v.required("state", x.state);
  v("past", x.past);
  v("array", x.array);
  v("stop", x.stop);
  v("status_reason", x.status_reason);
}

// --- facts --------------------------------------------------------------------------------------------------------

void fields(auto& v, Of<fact::EnvironmentPut> auto& x) { v.required("value", x.value); }
void fields(auto& v, Of<fact::EnvironmentDeleted> auto& x) { v.required("name", x.name); }
void fields(auto& v, Of<fact::QueuePut> auto& x) { v.required("value", x.value); }
void fields(auto& v, Of<fact::QueueDeleted> auto& x) { v.required("name", x.name); }
void fields(auto& v, Of<fact::DefinitionPut> auto& x) { v.required("value", x.value); }
void fields(auto& v, Of<fact::JobSubmitted> auto& x) {
  v.required("id", x.id);
  v("spec", x.spec);
  v("waiting_for", x.waiting_for);
  v("doomed_children", x.doomed_children);
}
void fields(auto& v, Of<fact::JobTagged> auto& x) {
  v.required("id", x.id);
  v("tags", x.tags);
  v("throttle", x.throttle);
}
void fields(auto& v, Of<fact::JobReady> auto& x) { v.required("id", x.id); }
void fields(auto& v, Of<fact::InstanceStarted> auto& x) { v.required("value", x.value); }
void fields(auto& v, Of<fact::InstanceEnded> auto& x) {
  v.required("id", x.id);
  v("reason", x.reason);
}
void fields(auto& v, Of<fact::AttemptPlaced> auto& x) {
  v.required("id", x.id);
  v.required("attempt", x.attempt);
}
void fields(auto& v, Of<fact::AttemptStarted> auto& x) {
  v.required("id", x.id);
  v("started_us", x.started);
  v("log_stream", x.log_stream);
}
void fields(auto& v, Of<fact::AttemptEnded> auto& x) {
  v.required("id", x.id);
  v.required("end", x.end);
  v.required("verdict", x.verdict);
  v("status_reason", x.status_reason);
}
void fields(auto& v, Of<fact::StopRequested> auto& x) {
  v.required("id", x.id);
  v.required("request", x.request);
}
void fields(auto& v, Of<fact::JobFailed> auto& x) {
  v.required("id", x.id);
  v("status_reason", x.status_reason);
}
void fields(auto& v, Of<fact::ChildrenFailed> auto& x) {
  v.required("id", x.id);
  v.required("first", x.first);
  v.required("last", x.last);
  v("status_reason", x.status_reason);
}

void fields(auto& v, Of<fact::PolicyPut> auto& x) { v.required("value", x.value); }
void fields(auto& v, Of<fact::PolicyDeleted> auto& x) { v.required("name", x.name); }
void fields(auto& v, Of<fact::ConsumablePut> auto& x) { v.required("value", x.value); }
void fields(auto& v, Of<fact::ConsumableDeleted> auto& x) { v.required("name", x.name); }
void fields(auto& v, Of<fact::InstanceInterrupted> auto& x) {
  v.required("id", x.id);
  v("until_us", x.until);
  v("reason", x.reason);
  v("for_job", x.for_job);
}

}  // namespace teson::codec
