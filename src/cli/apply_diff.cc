#include "cli/apply_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace teson::cli {
namespace {

std::string without_arn(const std::string& text) {
  return text.starts_with("arn:") ? text.substr(text.find_last_of('/') + 1) : text;
}

// What is not there and what is empty are the same to AWS.
bool is_nothing(const Json& value) { return value.is_null() || (value.is_structured() && value.empty()); }

Json pruned(const Json& value) {
  if (!value.is_structured()) return value;
  Json out = value.is_array() ? Json::array() : Json::object();
  for (const auto& [key, member] : value.items()) {
    Json inner = pruned(member);
    if (value.is_array()) {
      out.push_back(std::move(inner));
    } else if (!is_nothing(inner)) {
      out[key] = std::move(inner);
    }
  }
  return out;
}

void normalise_queue(Json& queue) {
  if (queue.contains("schedulingPolicyArn")) {
    queue["schedulingPolicyArn"] = without_arn(text_field(queue, "schedulingPolicyArn"));
  }
  if (!queue.contains("computeEnvironmentOrder")) return;
  std::vector<Json> order = queue["computeEnvironmentOrder"];
  std::ranges::stable_sort(order, {}, [](const Json& entry) { return int_field(entry, "order").value_or(0); });
  Json entries = Json::array();
  for (const Json& entry : order) {
    entries.push_back(Json::object({{"order", field(entry, "order")},
                                    {"computeEnvironment", without_arn(text_field(entry, "computeEnvironment"))}}));
  }
  queue["computeEnvironmentOrder"] = std::move(entries);
}

// As AWS documents the defaults [FairsharePolicy, ShareAttributes].
void normalise_policy(Json& policy) {
  if (!policy.contains("fairsharePolicy")) return;
  Json& fair = policy["fairsharePolicy"];
  for (const char* member : {"shareDecaySeconds", "computeReservation"}) {
    if (field(fair, member) == Json(0)) fair.erase(member);
  }
  if (!fair.contains("shareDistribution")) return;
  Json shares = Json::array();
  for (const Json& share : fair["shareDistribution"]) {
    const Json& weight = field(share, "weightFactor");
    shares.push_back(Json::object({{"shareIdentifier", field(share, "shareIdentifier")},
                                   {"weightFactor", weight.is_number() ? weight.get<double>() : 1.0}}));
  }
  fair["shareDistribution"] = std::move(shares);
}

void normalise_definition(Json& definition) {
  for (const char* member : {"jobDefinitionArn", "revision", "status", "containerOrchestrationType"}) {
    definition.erase(member);
  }
  if (!field(field(definition, "retryStrategy"), "evaluateOnExit").is_array()) return;
  for (Json& rule : definition["retryStrategy"]["evaluateOnExit"]) {
    std::string action = text_field(rule, "action");
    for (char& c : action) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    rule["action"] = action;
  }
}

// Members of a map in the same order, so that a list of maps is equal whichever way it was written.
nlohmann::json sorted(const Json& value) { return nlohmann::json::parse(json_line(value)); }

Json normalised(ManifestKind kind, const Json& value) {
  Json out = pruned(value);
  if (out.contains("tags")) out["tags"].erase("teson:owner");  // the server's own
  switch (kind) {
    case ManifestKind::kQueue:
      normalise_queue(out);
      break;
    case ManifestKind::kPolicy:
      normalise_policy(out);
      break;
    case ManifestKind::kDefinition:
      normalise_definition(out);
      break;
    case ManifestKind::kEnvironment:
    case ManifestKind::kJob:
      break;
  }
  return pruned(out);
}

bool is_whole(ManifestKind kind, const std::string& path) {
  return kind == ManifestKind::kDefinition || (kind == ManifestKind::kPolicy && path.starts_with("fairsharePolicy"));
}

void compare(ManifestKind kind, const std::string& path, const Json& from, const Json& to,
             std::vector<FieldChange>& out) {
  if (to.is_object() && (from.is_object() || from.is_null())) {
    const auto inner = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
    for (const auto& [key, member] : to.items()) compare(kind, inner(key), field(from, key.c_str()), member, out);
    if (!from.is_object() || !is_whole(kind, path)) return;
    for (const auto& [key, member] : from.items()) {
      if (!to.contains(key)) out.push_back({inner(key), member, Json()});
    }
    return;
  }
  if (sorted(from) != sorted(to)) out.push_back({path, from, to});
}

std::string first_part(const std::string& path) { return path.substr(0, path.find('.')); }

bool is_tag(const FieldChange& change) { return first_part(change.field) == "tags"; }

}  // namespace

std::vector<FieldChange> differences(const ManifestDocument& document, const Json& current) {
  std::vector<FieldChange> out;
  Json wanted = normalised(document.kind, document.request);
  Json there = current.is_null() ? Json() : normalised(document.kind, current);
  if (document.kind == ManifestKind::kPolicy && !there.is_null() && document.request.contains("fairsharePolicy")) {
    // Also one that says nothing: it takes away what there was.
    if (!wanted.contains("fairsharePolicy")) wanted["fairsharePolicy"] = Json::object();
  }
  const char* limits = "jobStateTimeLimitActions";
  if (document.request.contains(limits) && there.contains(limits) && !wanted.contains(limits)) {
    wanted[limits] = Json::array();
  }
  // Where it stands at a moment is the scheduler's: the document says it for the beginning.
  if (document.kind == ManifestKind::kEnvironment && !there.is_null() && wanted.contains("computeResources")) {
    wanted["computeResources"].erase("desiredvCpus");
  }
  compare(document.kind, "", there, wanted, out);
  return out;
}

Result<Json> update_request(const ManifestDocument& document, const std::vector<FieldChange>& changes,
                            const std::string& arn) {
  static const std::set<std::string> fixed = {"type", "eksConfiguration", "jobQueueType", "context"};
  Json out = Json::object();
  for (const FieldChange& change : changes) {
    const std::string part = first_part(change.field);
    if (is_tag(change)) continue;
    if (fixed.contains(part)) {
      return invalid(at(document.file, document.place,
                        fmt::format("{}: '{}' is {} and cannot be changed to {}: delete it first, or give this one "
                                    "another name",
                                    document.label(), part, json_line(change.from), json_line(change.to))));
    }
    const Json& given = field(document.request, part.c_str());
    if (part != "computeResources") {
      out[part] = given;
      continue;
    }
    const std::string inner = first_part(change.field.substr(part.size() + 1));
    out[part][inner] = field(given, inner.c_str());
  }
  if (out.empty()) return out;
  if (document.kind == ManifestKind::kPolicy) out["arn"] = arn;
  if (document.kind == ManifestKind::kEnvironment) out["computeEnvironment"] = document.name;
  if (document.kind == ManifestKind::kQueue) out["jobQueue"] = document.name;
  return out;
}

Json changed_tags(const ManifestDocument& document, const std::vector<FieldChange>& changes) {
  Json out = Json::object();
  const Json& tags = field(document.request, "tags");
  for (const auto& [key, value] : tags.items()) {
    const auto is_it = [&](const FieldChange& change) { return change.field == "tags." + key; };
    if (std::ranges::any_of(changes, is_it)) out[key] = value;
  }
  return out;
}

}  // namespace teson::cli
