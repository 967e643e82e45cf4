// What ListJobs was asked, and how live and finished jobs answer it. Pure; any thread.
//
// [AWS Batch API, ListJobs]: without a filter one status (RUNNING by default); with a filter every status. Newest
// first. A page token holds the order (submission number) of the last job given, so new submits shift nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/batch/arn.h"
#include "api/batch/job_json.h"
#include "api/batch/page.h"
#include "control/controller.h"
#include "ports/history.h"

namespace teson::batch {

struct ListQuery {
  std::string queue;           // empty: the children of `array`
  std::optional<JobId> array;  // by index, from first_child
  size_t first_child = 0;
  std::optional<std::string> status;  // empty: every status
  std::string name_pattern;           // lower case; a trailing '*' stands for any rest; empty: any
  std::string definition;             // name, name with a trailing '*', or name:revision; empty: any
  std::string share;                  // empty: any
  std::optional<Instant> created_before;
  std::optional<Instant> created_after;
  std::optional<uint64_t> order_below;
  int limit = kMaxPage;
};

Result<ListQuery> parse_list(const Json& body, const Arns& arns);
// The token of the page after this child.
std::string children_token(const JobId& last);
bool matches(const ListQuery& query, const Job& job);

// One slice of a walk over the queue's live jobs, newest first: at most `max_seen` are looked at, so that the loop is
// not held up by a long queue. Copies what matches.
struct LiveSlice {
  std::vector<JobView> found;
  std::optional<uint64_t> go_on_below;  // there are more jobs, of smaller order
};
LiveSlice scan_live(const Controller& controller, const ListQuery& query, std::optional<uint64_t> below,
                    size_t max_found, size_t max_seen);

// Whether finished jobs can match at all.
bool wants_history(const ListQuery& query);
HistoryQuery history_query(const ListQuery& query, std::optional<uint64_t> below, int limit);

// The page: newest first, no job twice (one that finished meanwhile is in both; the finished one counts).
struct ListPage {
  std::vector<JobView> jobs;
  std::optional<std::string> next_token;
};
ListPage merged_page(std::vector<JobView> live, std::vector<Job> finished, int limit);

}  // namespace teson::batch
