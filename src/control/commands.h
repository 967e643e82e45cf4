// What clients may ask of the control loop. Values (and small pure functions), made by the API layer after it has
// validated the wire form; the loop validates against its state and answers once the outcome is durable.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "domain/consumable.h"
#include "domain/environment.h"
#include "domain/job.h"
#include "domain/scheduling_policy.h"
#include "domain/user.h"

namespace teson {

// `by`: whose wish it is, where that matters: kDenied unless it is the owner or an admin. Who asks from within the
// program is the first user. That a role permits the command at all has been checked by whoever made it.
namespace command {
struct CreateEnvironment {
  ComputeEnvironment value;
};
struct UpdateEnvironment {
  std::string name;
  std::function<Status(ComputeEnvironment&)> change;  // pure, quick: runs on the loop's thread
};
struct DeleteEnvironment {  // must be disabled and in no queue
  std::string name;
};
struct CreateQueue {
  Queue value;
};
struct UpdateQueue {
  std::string name;
  std::function<Status(Queue&)> change;
};
struct DeleteQueue {  // must be disabled; its jobs are terminated
  std::string name;
};
struct RegisterDefinition {
  JobDefinition value;  // `revision` is chosen by the loop: one above the highest ever used for the name
  Caller by = {};       // becomes its owner; a name in use belongs to the owner of its latest active revision
};
struct UpdateDefinition {  // deregister: active = false; tags
  std::string name;
  int revision = 0;
  std::function<Status(JobDefinition&)> change;
  Caller by = {};
  std::string_view action = "DeregisterJobDefinition";  // what it is called in a refusal
};
// To repeat one that was refused as unavailable or never answered: ask the loop whether the id is live, then the
// history whether it has ended, in that order, and send it again only if neither has it. Otherwise a job may run twice.
struct SubmitJob {
  JobId id;  // random, chosen by the caller
  JobSpec spec;
  // How dependencies that the loop no longer holds ended, looked up in the history by the caller after a first answer
  // that names them (unknown_dependencies in Accepted).
  struct Ended {
    bool succeeded = false;
    std::string children;  // of an array: ArrayProgress::children
  };
  std::map<JobId, Ended> finished_dependencies;
};
struct StopJob {
  JobId id;
  StopKind kind = StopKind::kTerminate;
  std::string reason;
  Caller by = {};
};
// Takes the instances back on which the job's attempts live (of an array: its children's), or the one instance, with
// all that runs on them: kDenied if one of those jobs is somebody else's. One that is being taken back already stays
// so.
struct Interrupt {
  std::variant<JobId, InstanceId> what;
  bool force = false;  // on-demand instances too
  std::string reason;
  Caller by = {};
};
struct UpdateJobTags {
  JobId id;
  // May set the throttle of an array.
  std::function<Status(Tags&, std::optional<int>& throttle)> change;
  Caller by = {};
  std::string_view action = "TagResource";  // what it is called in a refusal
};
struct CreatePolicy {
  SchedulingPolicy value;
};
struct UpdatePolicy {
  std::string name;
  std::function<Status(SchedulingPolicy&)> change;
};
struct DeletePolicy {  // no queue may use it
  std::string name;
};
struct CreateConsumable {
  ConsumableResource value;
};
struct UpdateConsumable {
  std::string name;
  std::function<Status(ConsumableResource&)> change;
};
struct DeleteConsumable {  // no live job may ask for it
  std::string name;
};
}  // namespace command

using Command =
    std::variant<command::CreateEnvironment, command::UpdateEnvironment, command::DeleteEnvironment,
                 command::CreateQueue, command::UpdateQueue, command::DeleteQueue, command::RegisterDefinition,
                 command::UpdateDefinition, command::SubmitJob, command::StopJob, command::UpdateJobTags,
                 command::CreatePolicy, command::UpdatePolicy, command::DeletePolicy, command::CreateConsumable,
                 command::UpdateConsumable, command::DeleteConsumable, command::Interrupt>;

// The outcome of a command, durable when it arrives.
struct Accepted {
  int revision = 0;                     // RegisterDefinition
  std::vector<InstanceId> interrupted;  // Interrupt: those that are being taken back now
  // SubmitJob was NOT accepted yet: these dependencies are not live. Look them up in the history and send the command
  // again with finished_dependencies filled in (a job leaves the loop only once the history has it).
  std::vector<JobId> unknown_dependencies;
};

// Called on the loop's thread: must not block and must not throw.
using CommandReply = std::function<void(Result<Accepted>)>;

}  // namespace teson
