// DescribeJobs, and ListJobs of an array's children: jobs of which some are live, some in the history, and some no more
// than a letter of their array.
#include <fmt/format.h>

#include <unordered_set>

#include "api/batch/array_json.h"
#include "api/batch/batch_api.h"
#include "api/batch/gathered.h"
#include "base/try.h"

namespace teson::batch {
namespace {

constexpr size_t kMaxDescribed = 100;

Result<std::vector<JobId>> parse_described(const Json& body, const Arns& arns) {
  const JsonValue value(body, "");
  TESON_TRY(const auto entries, wire::required_array(value, "jobs", 0, kMaxDescribed));
  std::vector<JobId> out;
  std::unordered_set<JobId> seen;
  for (const JsonValue& entry : entries) {
    TESON_TRY(const std::string text, entry.as_string());
    // What cannot be a job's id is a job that does not exist: left out.
    const auto id = arns.job_id(text, "jobs");
    if (id && seen.insert(*id).second) out.push_back(*id);
  }
  return out;
}

}  // namespace

void BatchApi::describe_jobs(const CallPtr& call) {
  auto asked = parse_described(call->body, arns_);
  if (!asked) return call->refuse(asked.error());
  auto described = std::make_shared<Gathered>();
  described->asked = std::move(*asked);
  loop_.ask([this, call, described](const Controller& controller) {
    gather_live(controller, *described);
    worker_.post([this, call, described] {
      if (auto status = gather_finished(history_, *described); !status) return call->refuse(status.error());
      Json jobs = Json::array();
      for (const JobId& id : described->asked) {
        if (const auto at = described->found.find(id); at != described->found.end()) {
          jobs.push_back(job_detail(at->second, arns_));
        }
      }
      call->answer({{"jobs", std::move(jobs)}});
    });
  });
}

// ---- ListJobs, arrayJobId ----

namespace {

struct ChildPage {
  ListQuery query;
  Gathered gathered;
  bool more = false;
};

void choose(const Job& array, ChildPage& page) {
  const auto& letters = array.array->children;
  for (size_t i = page.query.first_child; i < letters.size(); ++i) {
    const char* status = child_status_name(letters[i]);
    if (!status || (page.query.status && *page.query.status != status)) continue;
    if (std::ssize(page.gathered.asked) == page.query.limit) {
      page.more = true;
      return;
    }
    page.gathered.asked.push_back(array.id.child(static_cast<int>(i)));
  }
}

Json page_json(const ChildPage& page, const Arns& arns) {
  Json out = {{"jobSummaryList", Json::array()}};
  for (const JobId& id : page.gathered.asked) {
    const auto at = page.gathered.found.find(id);
    if (at != page.gathered.found.end()) out["jobSummaryList"].push_back(job_summary(at->second, arns));
  }
  if (page.more) out["nextToken"] = children_token(page.gathered.asked.back());
  return out;
}

}  // namespace

void BatchApi::list_children(const CallPtr& call, ListQuery query) {
  auto page = std::make_shared<ChildPage>();
  page->query = std::move(query);
  loop_.ask([this, call, page](const Controller& controller) {
    const JobId id = *page->query.array;
    const Job* array = controller.state().job(id);
    if (array && array->array) {
      choose(*array, *page);
      gather_live(controller, page->gathered);
    }
    worker_.post([this, call, page, id, live = array != nullptr, is_array = array && array->array] {
      const auto refuse = [&](const char* what) {
        call->refuse({ErrorKind::kNotFound, fmt::format("'arrayJobId': job {} {}", id.text(), what)});
      };
      if (live && !is_array) return refuse("is not an array job");
      if (!live) {
        const auto ended = history_.find(std::span(&id, 1));
        if (!ended) return call->refuse(ended.error());
        if (ended->empty()) return refuse("does not exist");
        if (!ended->front().array) return refuse("is not an array job");
        choose(ended->front(), *page);
        page->gathered.arrays.emplace(id, ended->front());
      }
      if (auto status = gather_finished(history_, page->gathered); !status) return call->refuse(status.error());
      call->answer(page_json(*page, arns_));
    });
  });
}

}  // namespace teson::batch
