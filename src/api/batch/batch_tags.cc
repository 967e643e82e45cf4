// TagResource, UntagResource, ListTagsForResource, on every kind of resource.
#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "api/batch/batch_api.h"
#include "api/batch/extension_tags.h"
#include "base/try.h"

namespace teson::batch {
namespace {

using TagsChange = std::function<Status(Tags&)>;

// New tags over old ones, within the limits. Tags that steer jobs are checked where they are read: on jobs and
// definitions.
Result<TagsChange> parse_tagging(const Json& body, bool on_job) {
  const JsonValue value(body, "");
  TESON_TRY_STATUS(wire::required_object(value, "tags"));
  TESON_TRY(Tags added, optional_tags(value, "tags"));
  if (on_job) TESON_TRY_STATUS(parse_extension_tags(added));
  return [added = std::move(added)](Tags& tags) -> Status {
    Tags result = added;
    result.insert(tags.begin(), tags.end());
    TESON_TRY_STATUS(check_tags(result));
    tags = std::move(result);
    return {};
  };
}

Result<TagsChange> parse_untagging(const http::Request& request) {
  std::vector<std::string> keys;
  for (const auto& parameter : request.query) {
    if (parameter.name == "tagKeys") keys.push_back(parameter.value);
  }
  if (std::ranges::find(keys, kOwnerTag) != keys.end()) return owner_tag_is_ours();
  if (keys.empty()) return invalid("the query has no tagKeys: name at least one key to remove");
  return [keys = std::move(keys)](Tags& tags) -> Status {
    for (const std::string& key : keys) tags.erase(key);
    return {};
  };
}

// The same change on whatever has tags.
template <class T>
std::function<Status(T&)> on_tags(TagsChange change) {
  return [change = std::move(change)](T& value) { return change(value.tags); };
}

// Whoever may tag environments, queues and policies may change them in every other way: they belong to nobody.
Status may_tag(const ResourceRef& resource, const Caller& by, const http::Action& action) {
  const bool owned = std::holds_alternative<JobId>(resource) || std::holds_alternative<DefinitionRef>(resource);
  if (owned || by.role == Role::kAdmin) return {};
  return fail(ErrorKind::kDenied, http::refusal(by, {action.name + " of what belongs to no user", http::Need::kAdmin}));
}

std::string throttle_tag(const Tags& tags) {
  const auto found = tags.find("teson:array-throttle");
  return found == tags.end() ? std::string() : found->second;
}

Command tag_command(const ResourceRef& resource, TagsChange change, const Caller& by, std::string_view action) {
  return std::visit(
      [&change, &by, action](const auto& ref) -> Command {
        using Ref = std::decay_t<decltype(ref)>;
        if constexpr (std::is_same_v<Ref, EnvironmentRef>) {
          return command::UpdateEnvironment{ref.name, on_tags<ComputeEnvironment>(std::move(change))};
        } else if constexpr (std::is_same_v<Ref, QueueRef>) {
          return command::UpdateQueue{ref.name, on_tags<Queue>(std::move(change))};
        } else if constexpr (std::is_same_v<Ref, PolicyRef>) {
          return command::UpdatePolicy{ref.name, on_tags<SchedulingPolicy>(std::move(change))};
        } else if constexpr (std::is_same_v<Ref, ConsumableRef>) {
          return command::UpdateConsumable{ref.name, on_tags<ConsumableResource>(std::move(change))};
        } else if constexpr (std::is_same_v<Ref, DefinitionRef>) {
          return command::UpdateDefinition{ref.name, ref.revision, on_tags<JobDefinition>(std::move(change)), by,
                                           action};
        } else {
          return command::UpdateJobTags{
              ref,
              [change = std::move(change)](Tags& tags, std::optional<int>& throttle) -> Status {
                const std::string before = throttle_tag(tags);
                TESON_TRY_STATUS(change(tags));
                TESON_TRY(const ExtensionTags extensions, parse_extension_tags(tags));
                // One that its definition gave it has no tag here, and other tags do not end it.
                if (throttle_tag(tags) != before) throttle = extensions.array_throttle.value_or(0);
                return {};
              },
              by, action};
        }
      },
      resource);
}

std::string tags_answer(const Tags& tags) { return wire::json_text({{"tags", tags}}); }

}  // namespace

void BatchApi::tag(const CallPtr& call) {
  const std::string& method = call->request.method;
  if (method == "GET" || method == "HEAD") return list_tags(call);
  const auto resource = arns_.resource(std::string(call->request.path_parameter("resourceArn")));
  if (!resource) return call->refuse(resource.error());
  const Caller& by = call->request.caller;
  if (auto status = may_tag(*resource, by, action(call->request)); !status) return call->refuse(status.error());
  const JobId* job = std::get_if<JobId>(&*resource);
  if (job && job->is_child()) {
    return call->refuse(
        {ErrorKind::kConflict, fmt::format("Job {} is a child of an array, whose tags are its own: tag job {}",
                                           job->text(), job->parent().text())});
  }
  const bool on_job = job != nullptr || std::holds_alternative<DefinitionRef>(*resource);
  auto change = method == "POST" ? parse_tagging(call->body, on_job) : parse_untagging(call->request);
  if (!change) return call->refuse(change.error());
  Command command = tag_command(*resource, std::move(*change), by, method == "POST" ? "TagResource" : "UntagResource");
  if (!job) return command_then(call, std::move(command), "{}");
  loop_.submit(std::move(command), [this, call, id = *job](Result<Accepted> accepted) {
    if (accepted) return call->answer_text("{}");
    if (accepted.error().kind != ErrorKind::kNotFound) return call->refuse(accepted.error());
    worker_.post([this, call, id] {
      const auto found = history_.find(std::span(&id, 1));
      if (!found) return call->refuse(found.error());
      const bool exists = !found->empty();
      call->refuse(
          {exists ? ErrorKind::kConflict : ErrorKind::kNotFound,
           fmt::format("Job {} {}", id.text(),
                       exists ? "has finished: the tags of a finished job cannot be changed" : "does not exist")});
    });
  });
}

void BatchApi::list_tags(const CallPtr& call) {
  const auto resource = arns_.resource(std::string(call->request.path_parameter("resourceArn")));
  if (!resource) return call->refuse(resource.error());
  const auto missing = [&call] {
    call->refuse({ErrorKind::kNotFound,
                  fmt::format("Resource {} does not exist", in_quotes(call->request.path_parameter("resourceArn")))});
  };
  const auto answer = [&](const auto& value) { value ? call->answer_text(tags_answer(value->tags)) : missing(); };
  if (const auto* environment = std::get_if<EnvironmentRef>(&*resource))
    return answer(registry_.environment(environment->name));
  if (const auto* queue = std::get_if<QueueRef>(&*resource)) return answer(registry_.queue(queue->name));
  if (const auto* policy = std::get_if<PolicyRef>(&*resource)) return answer(registry_.policy(policy->name));
  if (const auto* ref = std::get_if<ConsumableRef>(&*resource)) return tags_of_consumable(call, ref->name);
  if (const auto* ref = std::get_if<DefinitionRef>(&*resource))
    return answer(registry_.definition(ref->name, ref->revision));

  loop_.ask([this, call, id = std::get<JobId>(*resource).parent()](const Controller& controller) {
    if (const Job* job = controller.state().job(id)) return call->answer_text(tags_answer(shown_tags(job->spec)));
    worker_.post([this, call, id] {
      const auto found = history_.find(std::span(&id, 1));
      if (!found) return call->refuse(found.error());
      if (!found->empty()) return call->answer_text(tags_answer(shown_tags(found->front().spec)));
      call->refuse({ErrorKind::kNotFound, fmt::format("Job {} does not exist", id.text())});
    });
  });
}

}  // namespace teson::batch
