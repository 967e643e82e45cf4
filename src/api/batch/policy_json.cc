#include "api/batch/policy_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/try.h"

namespace teson::batch {
namespace {

constexpr size_t kMaxShares = 500;
constexpr size_t kMaxIdentifier = 255;
constexpr int64_t kMaxDecaySeconds = 604'800;
constexpr int64_t kMaxReservation = 99;
constexpr double kMinWeight = 0.0001;
constexpr double kMaxWeight = 999.9999;
constexpr double kWeightScale = 10'000;

bool is_identifier(std::string_view text) {
  const auto alphanumeric = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !text.empty() && text.size() <= kMaxIdentifier && std::all_of(text.begin(), text.end(), alphanumeric);
}

Result<ShareWeight> parse_share(const JsonValue& entry) {
  ShareWeight out;
  TESON_TRY(out.identifier, wire::required_string(entry, "shareIdentifier"));
  std::string_view stem = out.identifier;
  if (stem.ends_with('*')) stem.remove_suffix(1);
  if (!is_identifier(stem)) {
    return invalid(
        fmt::format("Value {} at '{}.shareIdentifier' must be 1 to 255 letters and digits, at its end one * "
                    "for every identifier that begins so",
                    in_quotes(out.identifier), entry.path()));
  }
  TESON_TRY(const auto weight, wire::optional_double(entry, "weightFactor"));
  if (weight && !(*weight >= kMinWeight && *weight <= kMaxWeight)) {
    return invalid(fmt::format("'{}.weightFactor' is {}: it must be from {} to {}; the smaller, the larger the share",
                               entry.path(), *weight, kMinWeight, kMaxWeight));
  }
  if (weight) out.weight_e4 = std::llround(*weight * kWeightScale);
  return out;
}

Status check_overlap(const std::vector<ShareWeight>& shares) {
  for (size_t i = 0; i < shares.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!overlap(shares[i].identifier, shares[j].identifier)) continue;
      return invalid(
          fmt::format("'fairsharePolicy.shareDistribution': {} and {} mean share identifiers in common: each "
                      "may have one weight",
                      in_quotes(shares[j].identifier), in_quotes(shares[i].identifier)));
    }
  }
  return {};
}

// What an update leaves out becomes the default, as on AWS: the whole policy is given anew.
Status parse_fairshare(const JsonValue& body, SchedulingPolicy& out) {
  TESON_TRY_STATUS(refuse_member(body, "quotaSharePolicy", "quota shares are"));
  out.decay_seconds = 0;
  out.compute_reservation = 0;
  out.shares.clear();
  TESON_TRY(const auto policy, wire::optional_object(body, "fairsharePolicy"));
  if (!policy) return {};
  TESON_TRY(const auto decay, wire::optional_int(*policy, "shareDecaySeconds", {0, kMaxDecaySeconds}));
  TESON_TRY(const auto reservation, wire::optional_int(*policy, "computeReservation", {0, kMaxReservation}));
  TESON_TRY(const auto entries, wire::optional_object_array(*policy, "shareDistribution", kMaxShares));
  out.decay_seconds = decay.value_or(0);
  out.compute_reservation = static_cast<int>(reservation.value_or(0));
  for (const JsonValue& entry : entries) {
    TESON_TRY(ShareWeight share, parse_share(entry));
    out.shares.push_back(std::move(share));
  }
  return check_overlap(out.shares);
}

}  // namespace

Result<SchedulingPolicy> parse_create_policy(const Json& body) {
  const JsonValue value(body, "");
  SchedulingPolicy out;
  TESON_TRY(out.name, required_name(value, "name"));
  TESON_TRY(out.tags, optional_tags(value, "tags"));
  TESON_TRY_STATUS(parse_fairshare(value, out));
  return out;
}

Result<PolicyUpdate> parse_update_policy(const Json& body, const Arns& arns) {
  const JsonValue value(body, "");
  PolicyUpdate out;
  TESON_TRY(const std::string arn, wire::required_string(value, "arn"));
  TESON_TRY(out.name, arns.policy_name(arn, "arn"));
  SchedulingPolicy fresh;
  TESON_TRY_STATUS(parse_fairshare(value, fresh));
  out.change = [fresh = std::move(fresh)](SchedulingPolicy& policy) -> Status {
    policy.decay_seconds = fresh.decay_seconds;
    policy.compute_reservation = fresh.compute_reservation;
    policy.shares = fresh.shares;
    return {};
  };
  return out;
}

Json policy_detail(const SchedulingPolicy& policy, const Arns& arns) {
  Json shares = Json::array();
  for (const ShareWeight& share : policy.shares) {
    shares.push_back(
        {{"shareIdentifier", share.identifier}, {"weightFactor", static_cast<double>(share.weight_e4) / kWeightScale}});
  }
  return {{"name", policy.name},
          {"arn", arns.policy(policy.name)},
          {"fairsharePolicy",
           {{"shareDecaySeconds", policy.decay_seconds},
            {"computeReservation", policy.compute_reservation},
            {"shareDistribution", std::move(shares)}}},
          {"tags", policy.tags}};
}

Result<std::string> parse_share_identifier(const JsonValue& body) {
  TESON_TRY(const auto text, wire::optional_string(body, "shareIdentifier"));
  if (!text) return std::string();
  if (is_identifier(*text)) return *text;
  return invalid(fmt::format("Value {} at 'shareIdentifier' must be 1 to 255 letters and digits", in_quotes(*text)));
}

}  // namespace teson::batch
