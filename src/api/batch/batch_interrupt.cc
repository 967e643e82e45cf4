// POST /teson/v1/interrupt {"id", "force"?, "reason"?}: takes instances back (docs/preemption.md). Ours, not AWS's.
#include <fmt/format.h>

#include "api/batch/batch_api.h"
#include "base/try.h"

namespace teson::batch {
namespace {

constexpr size_t kLongestId = 256;
constexpr size_t kLongestReason = 1024;

Result<command::Interrupt> interrupt_command(const Json& body, const Arns& arns) {
  const wire::JsonValue request(body, "");
  command::Interrupt out;
  TESON_TRY(const std::string id, wire::required_string(request, "id", kLongestId));
  if (const auto instance = InstanceId::parse(id)) {
    out.what = *instance;
  } else if (id.starts_with("i-")) {
    return invalid(fmt::format("id: '{}' is not an instance id: \"i-\" and 17 hexadecimal digits", id));
  } else {
    TESON_TRY(const JobId job, arns.job_id(id, "id"));
    out.what = job;
  }
  TESON_TRY(const auto force, wire::optional_bool(request, "force"));
  TESON_TRY(auto reason, wire::optional_string(request, "reason", kLongestReason));
  out.force = force.value_or(false);
  out.reason = std::move(reason).value_or("");
  return out;
}

}  // namespace

void BatchApi::interrupt(const CallPtr& call) {
  auto command = interrupt_command(call->body, arns_);
  if (!command) return call->refuse(command.error());
  command->by = call->request.caller;
  loop_.submit(std::move(*command), [call](const Result<Accepted>& accepted) {
    if (!accepted) return call->refuse(accepted.error());
    Json instances = Json::array();
    for (const InstanceId& id : accepted->interrupted) instances.push_back(id.text());
    call->answer({{"instances", std::move(instances)}});
  });
}

}  // namespace teson::batch
