#include "api/batch/retry_json.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "base/try.h"

namespace teson::batch {
namespace {

constexpr size_t kMaxRules = 5;
constexpr size_t kMaxPattern = 512;
constexpr int64_t kMinTimeoutSeconds = 60;

bool is_pattern(std::string_view text, bool (*allowed)(char)) {
  if (text.ends_with('*')) text.remove_suffix(1);
  return std::all_of(text.begin(), text.end(), allowed);
}

bool in_reason(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == ':' || c == ' ' || c == '\t';
}

bool in_exit_code(char c) { return c >= '0' && c <= '9'; }

Result<std::optional<std::string>> pattern(const JsonValue& rule, const char* name, bool (*allowed)(char),
                                           const char* said) {
  const auto value = wire::field(rule, name);
  if (!value) return std::nullopt;
  TESON_TRY(std::string text, value->as_string({1, kMaxPattern}));
  if (is_pattern(text, allowed)) return text;
  return value->refuse(said);
}

Result<RetryRule> parse_rule(const JsonValue& value) {
  constexpr char kReason[] = "Member may hold letters, digits, periods, colons and blanks, and end with one '*'";
  RetryRule rule;
  TESON_TRY(rule.on_status_reason, pattern(value, "onStatusReason", in_reason, kReason));
  TESON_TRY(rule.on_reason, pattern(value, "onReason", in_reason, kReason));
  TESON_TRY(rule.on_exit_code,
            pattern(value, "onExitCode", in_exit_code, "Member may hold digits, and end with one '*'"));
  TESON_TRY(const JsonValue action, wire::required_field(value, "action"));
  TESON_TRY(std::string name, action.as_string());
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  if (name == "RETRY") {
    rule.action = RetryAction::kRetry;
  } else if (name == "EXIT") {
    rule.action = RetryAction::kExit;
  } else {
    return action.refuse("Member must be RETRY or EXIT");
  }
  return rule;
}

}  // namespace

Result<std::optional<RetryStrategy>> optional_retry_strategy(const JsonValue& object) {
  TESON_TRY(const auto value, wire::optional_object(object, "retryStrategy"));
  if (!value) return std::nullopt;
  RetryStrategy strategy;
  TESON_TRY(const auto attempts, wire::optional_int(*value, "attempts", {1, 10}));
  TESON_TRY(const auto rules, wire::optional_object_array(*value, "evaluateOnExit", kMaxRules));
  if (!rules.empty() && !attempts) {
    return invalid("'retryStrategy.attempts' is missing: it must be given (1 to 10) where evaluateOnExit is");
  }
  strategy.attempts = static_cast<int>(attempts.value_or(1));
  for (const JsonValue& rule : rules) {
    TESON_TRY(RetryRule parsed, parse_rule(rule));
    strategy.rules.push_back(std::move(parsed));
  }
  return strategy;
}

Json to_json(const RetryStrategy& strategy) {
  Json rules = Json::array();
  for (const RetryRule& rule : strategy.rules) {
    Json out = {{"action", rule.action == RetryAction::kRetry ? "RETRY" : "EXIT"}};
    if (rule.on_status_reason) out["onStatusReason"] = *rule.on_status_reason;
    if (rule.on_reason) out["onReason"] = *rule.on_reason;
    if (rule.on_exit_code) out["onExitCode"] = *rule.on_exit_code;
    rules.push_back(std::move(out));
  }
  return {{"attempts", strategy.attempts}, {"evaluateOnExit", std::move(rules)}};
}

Result<std::optional<Duration>> optional_timeout(const JsonValue& object) {
  TESON_TRY(const auto value, wire::optional_object(object, "timeout"));
  if (!value) return std::nullopt;
  TESON_TRY(const auto seconds, wire::optional_int(*value, "attemptDurationSeconds", {kMinTimeoutSeconds, INT32_MAX}));
  if (!seconds) return std::nullopt;
  return Duration::seconds(*seconds);
}

Json timeout_json(Duration timeout) { return {{"attemptDurationSeconds", timeout.whole_seconds()}}; }

}  // namespace teson::batch
