// Consumable resources: create, describe, list, update, delete, and the live jobs that ask for one.
//
// How much is in use only the loop knows, so every look is its answer.
#include <fmt/format.h>

#include <charconv>

#include "api/batch/batch_api.h"
#include "api/batch/consumable_json.h"
#include "api/batch/page.h"
#include "base/try.h"
#include "core/explain/waiting.h"

namespace teson::batch {
namespace {

constexpr char kResources[] = "consumableResources";
constexpr char kJobs[] = "consumable jobs";
constexpr size_t kMaxSeen = 10'000;  // jobs in a page: the loop is not held up for longer

Result<std::string> required_consumable(const Json& body, const Arns& arns) {
  TESON_TRY(const std::string text, wire::required_string(JsonValue(body, ""), "consumableResource"));
  return arns.consumable_name(text, "consumableResource");
}

Error absent(const std::string& name) {
  return {ErrorKind::kNotFound, fmt::format("Consumable resource '{}' does not exist", name)};
}

// Jobs of `consumable` after `after`, in the order of their submission.
Json jobs_page(const Controller& controller, const ConsumableState& consumable, const ConsumableJobsQuery& query,
               std::optional<uint64_t> after, size_t limit, const Arns& arns) {
  Json out = {{"jobs", Json::array()}};
  size_t seen = 0;
  uint64_t last = 0;
  auto at = after ? consumable.jobs.upper_bound(*after) : consumable.jobs.begin();
  for (; at != consumable.jobs.end(); ++at) {
    if (out["jobs"].size() == limit || ++seen > kMaxSeen) {
      out["nextToken"] = make_token(kJobs, std::to_string(last));
      break;
    }
    last = at->first;
    const Job& job = *controller.state().job(at->second);
    if (!matches(query, job)) continue;
    out["jobs"].push_back(consumable_job({job, waiting_reason(controller.state(), job)}, query.name, arns));
  }
  return out;
}

}  // namespace

void BatchApi::create_consumable_resource(const CallPtr& call) {
  auto value = parse_create_consumable(call->body);
  if (!value) return call->refuse(value.error());
  std::string answer = wire::json_text(
      {{"consumableResourceName", value->name}, {"consumableResourceArn", arns_.consumable(value->name)}});
  command_then(call, command::CreateConsumable{std::move(*value)}, std::move(answer));
}

void BatchApi::describe_consumable_resource(const CallPtr& call) {
  const auto name = required_consumable(call->body, arns_);
  if (!name) return call->refuse(name.error());
  loop_.ask([this, call, name = *name](const Controller& controller) {
    const auto found = controller.state().consumables().find(name);
    if (found == controller.state().consumables().end()) return call->refuse(absent(name));
    call->answer(consumable_detail(found->second, arns_));
  });
}

void BatchApi::list_consumable_resources(const CallPtr& call) {
  const JsonValue body(call->body, "");
  auto filter = parse_consumable_filter(body);
  if (!filter) return call->refuse(filter.error());
  auto page = parse_page(body, kResources);
  if (!page) return call->refuse(page.error());
  loop_.ask([this, call, filter = std::move(*filter), page = std::move(*page)](const Controller& controller) {
    const auto& all = controller.state().consumables();
    Json out = {{kResources, Json::array()}};
    std::string last;
    for (auto at = page.after ? all.upper_bound(*page.after) : all.begin(); at != all.end(); ++at) {
      if (!at->first.starts_with(filter)) continue;
      if (out[kResources].size() == static_cast<size_t>(page.limit)) {
        out["nextToken"] = make_token(kResources, last);
        break;
      }
      last = at->first;
      out[kResources].push_back(consumable_summary(at->second, arns_));
    }
    call->answer(out);
  });
}

void BatchApi::update_consumable_resource(const CallPtr& call) {
  auto update = parse_update_consumable(call->body, arns_);
  if (!update) return call->refuse(update.error());
  const std::string name = update->name;
  loop_.submit(command::UpdateConsumable{name, std::move(update->change)},
               [this, call, name](Result<Accepted> accepted) {
                 if (!accepted) return call->refuse(accepted.error());
                 loop_.ask([this, call, name](const Controller& controller) {
                   const auto found = controller.state().consumables().find(name);
                   if (found == controller.state().consumables().end()) return call->refuse(absent(name));
                   call->answer({{"consumableResourceName", name},
                                 {"consumableResourceArn", arns_.consumable(name)},
                                 {"totalQuantity", found->second.value.total}});
                 });
               });
}

void BatchApi::delete_consumable_resource(const CallPtr& call) {
  auto name = required_consumable(call->body, arns_);
  if (!name) return call->refuse(name.error());
  command_then(call, command::DeleteConsumable{std::move(*name)}, "{}");
}

void BatchApi::list_jobs_by_consumable_resource(const CallPtr& call) {
  auto query = parse_consumable_jobs(call->body, arns_);
  if (!query) return call->refuse(query.error());
  auto page = parse_page(JsonValue(call->body, ""), kJobs);
  if (!page) return call->refuse(page.error());
  std::optional<uint64_t> after;
  if (page->after) {
    uint64_t order = 0;
    const auto parsed = std::from_chars(page->after->data(), page->after->data() + page->after->size(), order);
    if (parsed.ec != std::errc())
      return call->refuse({ErrorKind::kInvalid, "'nextToken' is not one of this operation"});
    after = order;
  }
  loop_.ask([this, call, query = std::move(*query), after, limit = page->limit](const Controller& controller) {
    const auto found = controller.state().consumables().find(query.name);
    if (found == controller.state().consumables().end()) return call->refuse(absent(query.name));
    call->answer(jobs_page(controller, found->second, query, after, static_cast<size_t>(limit), arns_));
  });
}

}  // namespace teson::batch
