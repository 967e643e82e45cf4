#include "cli/top_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/jobs.h"
#include "cli/short_id.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/units.h"

namespace teson::cli {
namespace {

constexpr size_t kMostFronts = 8;
constexpr size_t kNextOfQueue = 5;
constexpr size_t kFewestRows = 2;

struct Section {
  std::string title;
  Table table;
  size_t rows = 0;
  size_t in_all = 0;  // more than rows, where the server told only a part
};

double number(const Json& object, const char* name) {
  const Json& value = field(object, name);
  return value.is_number() ? value.get<double>() : 0;
}

std::string text_of(int64_t value) { return fmt::format("{}", value); }
std::string count_of(const Json& object, const char* name) { return text_of(int_field(object, name).value_or(0)); }
std::string memory_of(const Json& object) { return bytes_text(int_field(object, "memoryMiB").value_or(0) << 20); }

std::string since_text(const Json& object, const char* name, Instant at) {
  const auto since = int_field(object, name);
  if (!since) return "";
  // Whose clock is behind the server's shows no negative spans.
  const int64_t millis = std::max<int64_t>(at.millis() - *since, 0);
  return millis < 1000 ? "0s" : duration_text(Duration::seconds(millis / 1000));
}

std::string use_text(const Json& used, const Json& has) {
  std::string out = fmt::format("{:g} of {:g} vCPU, {} of {}", number(used, "vcpus"), number(has, "vcpus"),
                                memory_of(used), memory_of(has));
  if (number(has, "gpus") > 0) out += fmt::format(", {:g} of {:g} GPU", number(used, "gpus"), number(has, "gpus"));
  return out;
}

std::vector<std::string> shown_ids(const Json& jobs) {
  std::vector<std::string> ids;
  for (const Json& job : jobs) ids.push_back(text_field(job, "jobId"));
  return short_ids(ids);
}

Section queues(const Json& overview) {
  Section out{"", Table({{"QUEUE"},
                         {"STATE"},
                         {"PRIORITY", Align::kRight},
                         {"RUNNABLE", Align::kRight},
                         {"STARTING", Align::kRight},
                         {"RUNNING", Align::kRight}})};
  for (const Json& queue : array_field(overview, "queues")) {
    out.table.add({text_field(queue, "jobQueueName"), text_field(queue, "state"), count_of(queue, "priority"),
                   count_of(queue, "runnable"), count_of(queue, "starting"), count_of(queue, "running")});
    ++out.rows;
  }
  out.in_all = out.rows;
  return out;
}

Section instances(const Json& overview, Instant at) {
  Section out{
      "", Table({{"INSTANCE"}, {"ENVIRONMENT"}, {"TYPE"}, {"JOBS", Align::kRight}, {"UP", Align::kRight}, {"USE"}})};
  for (const Json& instance : array_field(overview, "instances")) {
    const bool spot = field(instance, "spot") == Json(true);
    out.table.add({text_field(instance, "instanceId"), text_field(instance, "computeEnvironment"),
                   text_field(instance, "instanceType") + (spot ? " (spot)" : ""), count_of(instance, "attempts"),
                   since_text(instance, "startedAt", at), use_text(field(instance, "used"), field(instance, "has"))});
    ++out.rows;
  }
  out.in_all = static_cast<size_t>(int_field(overview, "instancesInAll").value_or(0));
  return out;
}

Section running(const Json& overview, Instant at) {
  const Json& jobs = array_field(overview, "running");
  Section out{"", Table({{"RUNNING"},
                         {"NAME"},
                         {"OWNER"},
                         {"QUEUE"},
                         {"ATTEMPT", Align::kRight},
                         {"FOR", Align::kRight},
                         {"VCPU", Align::kRight},
                         {"MEMORY", Align::kRight},
                         {"GPU", Align::kRight}})};
  const auto ids = shown_ids(jobs);
  for (size_t i = 0; i < jobs.size(); ++i) {
    const Json& job = jobs[i];
    const Json& used = field(job, "used");
    out.table.add({ids[i], text_field(job, "jobName"), text_field(job, "owner"), text_field(job, "jobQueue"),
                   count_of(job, "attempt"), since_text(job, "startedAt", at),
                   fmt::format("{:g}", number(used, "vcpus")), memory_of(used), count_of(used, "gpus")});
  }
  out.rows = jobs.size();
  out.in_all = static_cast<size_t>(int_field(overview, "runningInAll").value_or(0));
  return out;
}

Section next(const std::vector<Json>& jobs, Instant at) {
  Section out{"", Table({{"NEXT"}, {"NAME"}, {"QUEUE"}, {"PLACE", Align::kRight}, {"WAITS", Align::kRight}})};
  const auto ids = shown_ids(jobs);
  for (size_t i = 0; i < jobs.size(); ++i) {
    out.table.add({ids[i], text_field(jobs[i], "jobName"), text_field(jobs[i], "jobQueue"),
                   count_of(jobs[i], "position"), since_text(jobs[i], "createdAt", at)});
  }
  out.rows = out.in_all = jobs.size();
  return out;
}

// Title and rows, at most `most` of these, and how many are left out.
void put(const Section& section, size_t most, std::vector<std::string>& out) {
  if (section.rows == 0) return;
  out.emplace_back();
  const std::string text = section.table.render(0);
  const size_t shown = std::min(section.rows, most);
  size_t begin = 0;
  for (size_t line = 0; line <= shown; ++line) {
    const size_t end = text.find('\n', begin);
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (section.in_all > shown) out.push_back(fmt::format("... {} more", section.in_all - shown));
}

// What the small ones leave is the last one's, and what they have too much is cut: a blank, a title and a note each.
std::vector<size_t> rows_for(const std::vector<Section>& sections, size_t lines) {
  std::vector<size_t> out;
  if (lines == 0) {
    for (const Section& section : sections) out.push_back(section.rows);
    return out;
  }
  constexpr size_t kAround = 3;
  const size_t around = 1 + kAround * sections.size();
  size_t left = lines > around ? lines - around : 0;
  for (size_t i = 0; i < sections.size(); ++i) {
    const size_t share = std::max(left / (sections.size() - i), kFewestRows);
    const size_t rows = std::min(sections[i].rows, i + 1 == sections.size() ? std::max(left, kFewestRows) : share);
    out.push_back(rows);
    left -= std::min(left, rows);
  }
  return out;
}

Outcome<void> add_front(Client& client, const std::string& queue, std::vector<Json>& out) {
  const auto answer = client.batch("GetJobQueueSnapshot", Json::object({{"jobQueue", queue}}));
  if (!answer) {
    // Deleted since the overview.
    if (answer.error().kind == FailureKind::kService && !answer.error().passing) return {};
    return std::unexpected(answer.error());
  }
  int position = 0;
  for (const Json& job : array_field(field(*answer, "frontOfQueue"), "jobs")) {
    if (position == kNextOfQueue) break;
    const std::string arn = text_field(job, "jobArn");
    out.push_back(Json::object({{"jobId", arn.substr(arn.rfind('/') + 1)},
                                {"jobName", ""},
                                {"jobQueue", queue},
                                {"position", ++position},
                                {"createdAt", field(job, "earliestTimeAtPosition")}}));
  }
  return {};
}

}  // namespace

Outcome<TopView> gather_top(Client& client) {
  auto overview = client.native("/teson/v1/overview", "");
  if (!overview) return std::unexpected(overview.error());
  TopView view{*std::move(overview), {}};
  size_t asked = 0;
  for (const Json& queue : array_field(view.overview, "queues")) {
    if (int_field(queue, "runnable").value_or(0) == 0) continue;
    if (asked++ == kMostFronts) break;
    if (const auto added = add_front(client, text_field(queue, "jobQueueName"), view.next); !added) {
      return std::unexpected(added.error());
    }
  }
  std::vector<std::string> ids;
  ids.reserve(view.next.size());
  for (const Json& job : view.next) ids.push_back(text_field(job, "jobId"));
  const auto details = describe_jobs(client, ids);
  if (!details) return std::unexpected(details.error());
  for (Json& job : view.next) {
    const auto found = std::ranges::find_if(
        *details, [&](const Json& detail) { return text_field(detail, "jobId") == text_field(job, "jobId"); });
    if (found != details->end()) job["jobName"] = text_field(*found, "jobName");
  }
  return view;
}

Json top_json(const TopView& view) {
  Json out = view.overview;
  out["next"] = view.next;
  return out;
}

std::vector<std::string> top_frame(const TopView& view, Instant at, const std::string& endpoint, ScreenSize screen) {
  const Json& host = field(view.overview, "host");
  std::vector<std::string> out = {
      fmt::format("{}  {}  {}", printable(endpoint), time_text(at), use_text(field(host, "used"), field(host, "has")))};
  if (const std::string trouble = text_field(view.overview, "trouble"); !trouble.empty()) {
    out.push_back("nothing starts: " + printable(trouble));
  }
  std::vector<Section> sections;
  sections.push_back(queues(view.overview));
  sections.push_back(instances(view.overview, at));
  sections.push_back(next(view.next, at));
  sections.push_back(running(view.overview, at));
  const std::vector<size_t> rows = rows_for(sections, screen.lines);
  for (size_t i = 0; i < sections.size(); ++i) put(sections[i], rows[i], out);
  if (screen.lines > 0 && out.size() > screen.lines) out.resize(screen.lines);
  if (screen.columns > 0) {
    for (std::string& line : out) line = cut_to_width(line, screen.columns);
  }
  return out;
}

}  // namespace teson::cli
