#include "cli/array_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/array_range.h"
#include "cli/short_id.h"

namespace teson::cli {
namespace {

constexpr size_t kPage = 100;  // ListJobs' own limit

}  // namespace

std::optional<ArrayView> array_view(const Json& detail) {
  const Json& properties = field(detail, "arrayProperties");
  const auto size = int_field(properties, "size");
  if (!size || int_field(properties, "index")) return std::nullopt;
  const Json& summary = field(properties, "statusSummary");
  const auto count = [&](const char* status) { return int_field(summary, status).value_or(0); };
  ArrayView out;
  out.size = *size;
  out.waiting = count("SUBMITTED") + count("PENDING") + count("RUNNABLE");
  out.running = count("STARTING") + count("RUNNING");
  out.succeeded = count("SUCCEEDED");
  out.failed = count("FAILED");
  out.throttle = parse_throttle(text_field(field(detail, "tags"), "teson:array-throttle")).value_or(0);
  return out;
}

std::optional<int64_t> child_index(const Json& detail) { return int_field(field(detail, "arrayProperties"), "index"); }

std::string progress_text(const ArrayView& array) {
  return fmt::format("{} of {} ended, {} failed, {} running, {} waiting", array.ended(), array.children(), array.failed,
                     array.running, array.waiting);
}

std::string size_text(const ArrayView& array) {
  std::string text = fmt::format("{} children", array.children());
  if (array.children() != array.size) text = fmt::format("{} of {} children", array.children(), array.size);
  if (array.throttle > 0) text += fmt::format(", at most {} at once", array.throttle);
  return text;
}

Outcome<std::vector<Json>> list_children(Client& client, const std::string& array, const std::string& status,
                                         size_t limit) {
  std::vector<Json> children;
  std::string token;
  do {
    Json request = Json::object({{"arrayJobId", array},
                                 {"jobStatus", status},
                                 {"maxResults", std::clamp<size_t>(limit - children.size(), 1, kPage)}});
    if (!token.empty()) request["nextToken"] = token;
    const auto answer = client.batch("ListJobs", request);
    if (!answer) return std::unexpected(answer.error());
    for (const Json& child : array_field(*answer, "jobSummaryList")) children.push_back(child);
    token = text_field(*answer, "nextToken");
  } while (!token.empty() && children.size() < limit);
  if (children.size() > limit) children.resize(limit);
  return children;
}

Outcome<std::vector<Json>> first_failures(Client& client, const std::string& array) {
  const auto summaries = list_children(client, array, "FAILED", kShownFailures);
  if (!summaries) return summaries;
  std::vector<std::string> ids;
  for (const Json& summary : *summaries) ids.push_back(text_field(summary, "jobId"));
  return describe_jobs(client, ids);
}

Table failures_table(const std::vector<Json>& failures) {
  Table table({{"CHILD"}, {"ATTEMPTS", Align::kRight}, {"EXIT", Align::kRight}, {"REASON"}});
  for (const Json& failure : failures) {
    const JobView child = job_view(failure);
    table.add({short_form(child.id), fmt::format("{}", child.attempts.size()),
               child.exit_code ? fmt::format("{}", *child.exit_code) : "", why_failed(child)});
  }
  return table;
}

}  // namespace teson::cli
