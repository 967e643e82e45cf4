// Consumable resources: create, describe, list, update, delete, and the live jobs that ask for one.
//
// How much is in use only the loop knows, so every look is its answer.
#include <fmt/format.h>

#include "api/batch/batch_api.h"
#include "api/batch/consumable_json.h"
#include "api/batch/page.h"
#include "base/try.h"

namespace teson::batch {
namespace {

constexpr char kResources[] = "consumableResources";
constexpr char kJobs[] = "consumable jobs";
constexpr size_t kMaxSeen = 10'000;  // jobs in a page: the loop is not held up for longer

Result<std::string> required_consumable(const Json& body, const Arns& arns) {
  TESON_TRY(const std::string text, wire::required_string(JsonValue(body, ""), "consumableResource"));
  return arns.consumable_name(text, "consumableResource");
}

// A slice of the live jobs that ask for it, in the order of their submission.
struct JobSlice {
  std::vector<JobView> jobs;
  std::optional<uint64_t> go_on_after;
};

JobSlice slice_of(const Controller& controller, const ConsumableState& consumable, const ConsumableJobsQuery& query,
                  std::optional<uint64_t> after, size_t limit) {
  JobSlice out;
  size_t seen = 0;
  std::optional<uint64_t> last = after;
  for (auto at = after ? consumable.jobs.upper_bound(*after) : consumable.jobs.begin(); at != consumable.jobs.end();
       ++at) {
    if (out.jobs.size() == limit || ++seen > kMaxSeen) {
      out.go_on_after = last;
      break;
    }
    last = at->first;
    const Job& job = *controller.state().job(at->second);
    if (matches(query, job)) out.jobs.push_back({job, controller.waiting_reason(job)});
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

// `use(controller, consumable)` on the loop's thread, or the refusal.
template <class Use>
void BatchApi::with_consumable(const CallPtr& call, std::string name, Use use) {
  loop_.ask([call, name = std::move(name), use = std::move(use)](const Controller& controller) {
    const auto found = controller.state().consumables().find(name);
    if (found != controller.state().consumables().end()) return use(controller, found->second);
    call->refuse({ErrorKind::kNotFound, fmt::format("Consumable resource '{}' does not exist", name)});
  });
}

void BatchApi::describe_consumable_resource(const CallPtr& call) {
  auto name = required_consumable(call->body, arns_);
  if (!name) return call->refuse(name.error());
  with_consumable(call, std::move(*name), [this, call](const Controller&, const ConsumableState& consumable) {
    call->answer(consumable_detail(consumable, arns_));
  });
}

void BatchApi::tags_of_consumable(const CallPtr& call, const std::string& name) {
  with_consumable(call, name, [call](const Controller&, const ConsumableState& consumable) {
    call->answer({{"tags", consumable.value.tags}});
  });
}

void BatchApi::list_consumable_resources(const CallPtr& call) {
  const JsonValue body(call->body, "");
  auto pattern = parse_consumable_filter(body);
  if (!pattern) return call->refuse(pattern.error());
  auto page = parse_page(body, kResources);
  if (!page) return call->refuse(page.error());
  loop_.ask([this, call, pattern = std::move(*pattern), page = std::move(*page)](const Controller& controller) {
    const auto& all = controller.state().consumables();
    Json out = {{kResources, Json::array()}};
    std::string last;
    for (auto at = page.after ? all.upper_bound(*page.after) : all.begin(); at != all.end(); ++at) {
      if (!pattern.empty() && !matches_pattern(pattern, lower(at->first))) continue;
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
                 with_consumable(call, name, [this, call](const Controller&, const ConsumableState& consumable) {
                   call->answer({{"consumableResourceName", consumable.value.name},
                                 {"consumableResourceArn", arns_.consumable(consumable.value.name)},
                                 {"totalQuantity", consumable.value.total}});
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
  const auto page = parse_page(JsonValue(call->body, ""), kJobs);
  if (!page) return call->refuse(page.error());
  const auto after = number_after(*page);
  if (!after) return call->refuse(after.error());
  const std::string name = query->name;
  with_consumable(call, name,
                  [this, call, query = std::move(*query), after = *after, limit = static_cast<size_t>(page->limit)](
                      const Controller& controller, const ConsumableState& consumable) {
                    auto slice = slice_of(controller, consumable, query, after, limit);
                    worker_.post([this, call, name = query.name, slice = std::move(slice)] {
                      Json out = {{"jobs", Json::array()}};
                      for (const JobView& view : slice.jobs) out["jobs"].push_back(consumable_job(view, name, arns_));
                      if (slice.go_on_after) out["nextToken"] = make_token(kJobs, std::to_string(*slice.go_on_after));
                      call->answer(out);
                    });
                  });
}

}  // namespace teson::batch
