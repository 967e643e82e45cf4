// RegisterJobDefinition, DescribeJobDefinitions, DeregisterJobDefinition.
#include <fmt/format.h>

#include <set>

#include "api/batch/batch_api.h"
#include "api/batch/page.h"
#include "base/try.h"

namespace teson::batch {
namespace {

constexpr std::string_view kTokenKind = "definitions";
constexpr size_t kMaxNamed = 100;

using DefinitionPtr = std::shared_ptr<const JobDefinition>;

struct DefinitionQuery {
  std::vector<DefinitionRef> named;  // empty: any
  std::optional<std::string> name;
  std::optional<bool> active;
  PageRequest page;
  std::optional<DefinitionRef> after;
};

Result<DefinitionQuery> parse_query(const Json& body, const Arns& arns) {
  const JsonValue value(body, "");
  DefinitionQuery out;
  TESON_TRY(const auto names, wire::optional_string_array(value, "jobDefinitions", kMaxNamed, {1}));
  for (const std::string& text : names) {
    TESON_TRY(DefinitionRef ref, arns.definition_ref(text, "jobDefinitions"));
    out.named.push_back(std::move(ref));
  }
  TESON_TRY(out.name, wire::optional_string(value, "jobDefinitionName"));
  TESON_TRY(const auto status, wire::optional_enum(value, "status", {"ACTIVE", "INACTIVE"}));
  if (status) out.active = *status == "ACTIVE";
  TESON_TRY(out.page, parse_page(value, kTokenKind));
  if (out.page.after) {
    const auto after = arns.definition_ref(*out.page.after, "nextToken");
    if (!after) return invalid("'nextToken' is damaged: it must be what DescribeJobDefinitions returned before");
    out.after = *after;
  }
  return out;
}

bool matches(const DefinitionQuery& query, const JobDefinition& definition) {
  if (query.name && *query.name != definition.name) return false;
  if (query.active && *query.active != definition.active) return false;
  if (query.named.empty()) return true;
  for (const DefinitionRef& ref : query.named) {
    if (ref.name == definition.name && (ref.revision == 0 || ref.revision == definition.revision)) return true;
  }
  return false;
}

// By name, the newest revision first.
bool comes_after(const JobDefinition& definition, const DefinitionRef& ref) {
  return definition.name > ref.name || (definition.name == ref.name && definition.revision < ref.revision);
}

}  // namespace

void BatchApi::register_job_definition(const CallPtr& call) {
  const size_t size = call->request.body.size();
  if (size > kMaxDefinitionBytes) {
    return call->refuse(
        {ErrorKind::kInvalid, fmt::format("The request has {} bytes: a job definition may have at most {} (24 KiB)",
                                          size, kMaxDefinitionBytes)});
  }
  auto definition = parse_register(call->body);
  if (!definition) return call->refuse(definition.error());
  const std::string name = definition->name;
  command::RegisterDefinition command{std::move(*definition), call->request.caller};
  loop_.submit(std::move(command), [this, call, name](Result<Accepted> accepted) {
    if (!accepted) return call->refuse(accepted.error());
    call->answer({{"jobDefinitionName", name},
                  {"jobDefinitionArn", arns_.definition(name, accepted->revision)},
                  {"revision", accepted->revision}});
  });
}

void BatchApi::describe_job_definitions(const CallPtr& call) {
  auto query = parse_query(call->body, arns_);
  if (!query) return call->refuse(query.error());
  worker_.post([this, call, query = std::move(*query)] {
    Json out = {{"jobDefinitions", Json::array()}};
    const JobDefinition* last = nullptr;
    const auto all = registry_.definitions();
    for (const DefinitionPtr& definition : all) {
      if ((query.after && !comes_after(*definition, *query.after)) || !matches(query, *definition)) continue;
      if (out["jobDefinitions"].size() == static_cast<size_t>(query.page.limit)) {
        out["nextToken"] = make_token(kTokenKind, fmt::format("{}:{}", last->name, last->revision));
        break;
      }
      out["jobDefinitions"].push_back(definition_json(*definition, arns_));
      last = definition.get();
    }
    call->answer(out);
  });
}

void BatchApi::deregister_job_definition(const CallPtr& call) {
  const auto text = wire::required_string(JsonValue(call->body, ""), "jobDefinition");
  if (!text) return call->refuse(text.error());
  const auto ref = arns_.definition_ref(*text, "jobDefinition");
  if (!ref) return call->refuse(ref.error());
  if (ref->revision == 0) {
    return call->refuse(
        {ErrorKind::kInvalid, fmt::format("Value {} at 'jobDefinition' has no revision: give NAME:REVISION or the "
                                          "ARN",
                                          in_quotes(*text))});
  }
  const auto deactivate = [](JobDefinition& definition) -> Status {
    definition.active = false;
    return {};
  };
  command_then(call, command::UpdateDefinition{ref->name, ref->revision, deactivate, call->request.caller}, "{}");
}

}  // namespace teson::batch
