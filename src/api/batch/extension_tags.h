// What a user may ask of teson that AWS has no field for: tags that begin with "teson:", on a job or its definition.
//
//   teson:working-directory   absolute path in which the program runs; else a fresh directory per attempt
//   teson:grace-seconds       0 to 3600, SIGTERM to SIGKILL; else 30, as on AWS
//   teson:interruptions       free: a lost machine uses up no attempt; counted: it does, as on AWS
//   teson:after               any: it runs whatever became of what it depends on; success: as on AWS. In a SEQUENTIAL
//                             array the children go on after one that failed
//   teson:array-throttle      at most so many children of an array run at once; may be changed while it runs; 0: none
//   teson:rerun-of            the id of an array job that has ended: only the children run that failed there
//   teson:owner               whose job it is: written by the server, refused from clients
//
// On AWS the same tags are accepted and do nothing, so a script stays portable.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "domain/job.h"
#include "domain/user.h"
#include "wire/json.h"

namespace teson::batch {

struct ExtensionTags {
  std::optional<std::string> working_directory;
  std::optional<Duration> grace;
  std::optional<bool> interruptions_use_attempts;
  std::optional<bool> after_any;
  std::optional<int> array_throttle;
  std::optional<JobId> rerun_of;
};

// A bad value, or an unknown name under "teson:", is refused with the tag named.
Result<ExtensionTags> parse_extension_tags(const Tags& tags);
// The tag that tells whose a job is. The server's own: it is no part of JobSpec::tags.
inline constexpr std::string_view kOwnerTag = "teson:owner";
std::unexpected<Error> owner_tag_is_ours();
// Takes the tag off a SubmitJob's body if it names who asks (a job submitted again as it was described); refuses it
// else.
Status take_owner_tag(wire::Json& body, const Caller& by);
// A job's tags as clients see them. The first user's jobs have none of ours: a server of one user answers as AWS does.
Tags shown_tags(const JobSpec& spec);
// What the submit says goes over what the definition says.
ExtensionTags merged(const ExtensionTags& definition, const ExtensionTags& submit);

}  // namespace teson::batch
