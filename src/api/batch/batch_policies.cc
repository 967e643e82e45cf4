// Scheduling policies: create, describe, list, update, delete.
#include "api/batch/batch_api.h"
#include "api/batch/page.h"
#include "api/batch/policy_json.h"
#include "base/try.h"

namespace teson::batch {
namespace {

constexpr size_t kMaxDescribed = 100;
constexpr char kPolicies[] = "schedulingPolicies";

Result<std::vector<std::string>> parse_names(const Json& body, const Arns& arns) {
  TESON_TRY(const auto entries, wire::required_array(JsonValue(body, ""), "arns", 1, kMaxDescribed));
  std::vector<std::string> out;
  for (const JsonValue& entry : entries) {
    TESON_TRY(const std::string text, entry.as_string());
    TESON_TRY(std::string name, arns.policy_name(text, entry.path()));
    out.push_back(std::move(name));
  }
  return out;
}

}  // namespace

void BatchApi::create_scheduling_policy(const CallPtr& call) {
  auto policy = parse_create_policy(call->body);
  if (!policy) return call->refuse(policy.error());
  std::string answer = wire::json_text({{"name", policy->name}, {"arn", arns_.policy(policy->name)}});
  command_then(call, command::CreatePolicy{std::move(*policy)}, std::move(answer));
}

void BatchApi::describe_scheduling_policies(const CallPtr& call) {
  const auto names = parse_names(call->body, arns_);
  if (!names) return call->refuse(names.error());
  Json out = {{kPolicies, Json::array()}};
  for (const std::string& name : *names) {
    if (const auto policy = registry_.policy(name)) out[kPolicies].push_back(policy_detail(*policy, arns_));
  }
  call->answer(out);
}

void BatchApi::list_scheduling_policies(const CallPtr& call) {
  const auto page = parse_page(JsonValue(call->body, ""), kPolicies);
  if (!page) return call->refuse(page.error());
  Json out = {{kPolicies, Json::array()}};
  std::string last;
  for (const auto& policy : registry_.policies()) {
    if (page->after && policy->name <= *page->after) continue;
    if (out[kPolicies].size() == static_cast<size_t>(page->limit)) {
      out["nextToken"] = make_token(kPolicies, last);
      break;
    }
    last = policy->name;
    out[kPolicies].push_back({{"arn", arns_.policy(policy->name)}});
  }
  call->answer(out);
}

void BatchApi::update_scheduling_policy(const CallPtr& call) {
  auto update = parse_update_policy(call->body, arns_);
  if (!update) return call->refuse(update.error());
  command_then(call, command::UpdatePolicy{std::move(update->name), std::move(update->change)}, "{}");
}

void BatchApi::delete_scheduling_policy(const CallPtr& call) {
  const auto text = wire::required_string(JsonValue(call->body, ""), "arn");
  if (!text) return call->refuse(text.error());
  auto name = arns_.policy_name(*text, "arn");
  if (!name) return call->refuse(name.error());
  command_then(call, command::DeletePolicy{std::move(*name)}, "{}");
}

}  // namespace teson::batch
