#include "api/batch/list_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include "base/try.h"

namespace teson::batch {
namespace {

constexpr std::string_view kTokenKind = "jobs";
constexpr std::string_view kChildrenKind = "children";

Result<Instant> parse_millis(const JsonValue& value) {
  TESON_TRY(const std::string text, value.as_string());
  // Bounded so that microseconds fit.
  const auto millis = whole_number(text);
  if (millis && *millis <= INT64_MAX / 1000) return Instant::from_millis(static_cast<int64_t>(*millis));
  return value.refuse("Member must be milliseconds since 1970-01-01 as a whole number");
}

Result<std::string> parse_definition_filter(const JsonValue& value, const Arns& arns) {
  TESON_TRY(std::string text, value.as_string({1}));
  if (!text.starts_with("arn:")) return text;
  TESON_TRY(const DefinitionRef ref, arns.definition_ref(text, value.path()));
  return ref.revision == 0 ? ref.name : fmt::format("{}:{}", ref.name, ref.revision);
}

Status add_filter(const JsonValue& filter, const Arns& arns, ListQuery& query) {
  TESON_TRY(const std::string name, wire::required_enum(filter, "name",
                                                        {"JOB_NAME", "JOB_DEFINITION", "BEFORE_CREATED_AT",
                                                         "AFTER_CREATED_AT", "SHARE_IDENTIFIER"}));
  TESON_TRY(const auto values, wire::required_array(filter, "values", 1, 1));
  const JsonValue& value = values.front();
  if (name == "JOB_NAME") {
    TESON_TRY(const std::string text, value.as_string({1}));
    query.name_pattern = lower(text);
  } else if (name == "JOB_DEFINITION") {
    TESON_TRY(query.definition, parse_definition_filter(value, arns));
  } else if (name == "BEFORE_CREATED_AT") {
    TESON_TRY(query.created_before, parse_millis(value));
  } else if (name == "AFTER_CREATED_AT") {
    TESON_TRY(const Instant after, parse_millis(value));
    // createdAt is shown in whole milliseconds: a job of that same millisecond is not after it.
    query.created_after = after + Duration{999};
  } else {
    TESON_TRY(query.share, value.as_string({1}));
  }
  return {};
}

bool matches_definition(const std::string& wanted, const JobSpec& spec) {
  if (wanted.find(':') != std::string::npos)
    return wanted == fmt::format("{}:{}", spec.definition, spec.definition_revision);
  return matches_pattern(wanted, spec.definition);
}

}  // namespace

Result<ListQuery> parse_list(const Json& body, const Arns& arns) {
  const JsonValue value(body, "");
  TESON_TRY_STATUS(refuse_member(value, "multiNodeJobId", "multi-node jobs are"));
  ListQuery out;
  TESON_TRY(const auto array, wire::optional_string(value, "arrayJobId"));
  if (array) {
    if (wire::field(value, "jobQueue")) return invalid("only one of 'jobQueue' and 'arrayJobId' may be given");
    TESON_TRY(out.array, arns.job_id(*array, "arrayJobId"));
  } else {
    TESON_TRY(const std::string queue, wire::required_string(value, "jobQueue"));
    TESON_TRY(out.queue, arns.queue_name(queue, "jobQueue"));
  }
  TESON_TRY(out.status,
            wire::optional_enum(value, "jobStatus",
                                {"SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED"}));
  if (!out.status) out.status = "RUNNING";
  TESON_TRY(const auto filters, wire::optional_object_array(value, "filters"));
  if (filters.size() > 1)
    return invalid(fmt::format("'filters' has {} entries: only one may be used at a time", filters.size()));
  if (!filters.empty()) {
    if (array) return invalid("'filters' cannot be used with arrayJobId: use jobStatus");
    TESON_TRY_STATUS(add_filter(filters.front(), arns, out));
    // Alone of all filters it may go with a status.
    if (out.share.empty() || !wire::field(value, "jobStatus")) out.status.reset();
  }
  TESON_TRY(const PageRequest page, parse_page(value, array ? kChildrenKind : kTokenKind));
  out.limit = page.limit;
  TESON_TRY(const auto last, number_after(page, array ? kMaxArraySize - 1 : UINT64_MAX));
  if (array) {
    out.first_child = last ? *last + 1 : 0;
  } else {
    out.order_below = last;
  }
  return out;
}

std::string children_token(const JobId& last) { return make_token(kChildrenKind, std::to_string(last.index)); }

bool matches(const ListQuery& query, const Job& job) {
  if (job.id.is_child()) return false;
  if (job.spec.queue != query.queue) return false;
  if (query.status && *query.status != status_name(job)) return false;
  if (!query.name_pattern.empty() && !matches_pattern(query.name_pattern, lower(job.spec.name))) return false;
  if (!query.definition.empty() && !matches_definition(query.definition, job.spec)) return false;
  if (!query.share.empty() && job.spec.share != query.share) return false;
  if (query.created_before && job.created >= *query.created_before) return false;
  if (query.created_after && job.created <= *query.created_after) return false;
  return true;
}

LiveSlice scan_live(const Controller& controller, const ListQuery& query, std::optional<uint64_t> below,
                    size_t max_found, size_t max_seen) {
  const State& state = controller.state();
  LiveSlice out;
  const auto queue = state.queues().find(query.queue);
  if (queue == state.queues().end()) return out;
  const auto& jobs = queue->second.jobs;
  auto at = std::make_reverse_iterator(below ? jobs.lower_bound(*below) : jobs.end());
  for (size_t seen = 0; at != jobs.rend(); ++at, ++seen) {
    if (seen == max_seen || out.found.size() == max_found) {
      out.go_on_below = at->first + 1;
      return out;
    }
    const Job* job = state.job(at->second);
    if (job && matches(query, *job)) out.found.push_back({*job, controller.waiting_reason(*job)});
  }
  return out;
}

bool wants_history(const ListQuery& query) {
  return !query.status || *query.status == "SUCCEEDED" || *query.status == "FAILED";
}

HistoryQuery history_query(const ListQuery& query, std::optional<uint64_t> below, int limit) {
  HistoryQuery out;
  out.queue = query.queue;
  if (query.status) out.succeeded = *query.status == "SUCCEEDED";
  out.name_pattern = query.name_pattern;
  if (!query.definition.ends_with('*')) out.definition = query.definition;
  out.created_before = query.created_before;
  out.created_after = query.created_after;
  out.order_below = below;
  out.limit = limit;
  return out;
}

ListPage merged_page(std::vector<JobView> live, std::vector<Job> finished, int limit) {
  std::map<uint64_t, JobView, std::greater<>> by_order;
  for (Job& job : finished) by_order.emplace(job.order, JobView{std::move(job), {}});
  for (JobView& view : live) by_order.emplace(view.job.order, std::move(view));
  ListPage page;
  for (auto& [order, view] : by_order) {
    if (page.jobs.size() == static_cast<size_t>(limit)) {
      page.next_token = make_token(kTokenKind, std::to_string(page.jobs.back().job.order));
      break;
    }
    page.jobs.push_back(std::move(view));
  }
  return page;
}

}  // namespace teson::batch
