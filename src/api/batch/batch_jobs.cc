// SubmitJob, DescribeJobs, ListJobs, CancelJob, TerminateJob.
#include <fmt/format.h>

#include <unordered_set>

#include "api/batch/batch_api.h"
#include "api/batch/submit.h"
#include "base/try.h"

namespace teson::batch {
namespace {

constexpr size_t kMaxDescribed = 100;
// Live jobs looked at per visit to the loop: some tenths of a millisecond.
constexpr size_t kScanSlice = 2'000;
constexpr int kHistorySlice = 1'000;

}  // namespace

// ---- SubmitJob ----

struct BatchApi::Submission {
  command::SubmitJob command;
  std::string answer;
};

Result<command::SubmitJob> BatchApi::make_submission(const Json& body) {
  TESON_TRY(SubmitRequest request, parse_submit(body, arns_));
  const DefinitionRef ref = request.definition;
  const auto definition = registry_.definition(ref.name, ref.revision);
  if (!definition || !definition->active) {
    const std::string name = ref.revision == 0 ? ref.name : fmt::format("{}:{}", ref.name, ref.revision);
    return not_found(definition ? fmt::format("Job definition '{}' is INACTIVE: it was deregistered", name)
                                : fmt::format("Job definition '{}' does not exist or has no active revision", name));
  }
  TESON_TRY(const auto parsed, definitions_.get(definition));
  TESON_TRY(JobSpec spec, make_spec(std::move(request), *parsed, settings_));
  return command::SubmitJob{random_job_id(), std::move(spec), {}};
}

void BatchApi::submit_job(const CallPtr& call) {
  const size_t size = call->request.body.size();
  if (size > kMaxSubmitBytes) {
    return call->refuse(
        {ErrorKind::kInvalid,
         fmt::format("The request has {} bytes: SubmitJob takes at most {} (30 KiB)", size, kMaxSubmitBytes)});
  }
  auto command = make_submission(call->body);
  if (!command) return call->refuse(command.error());
  // Names and ids hold nothing that JSON must escape.
  std::string answer = fmt::format(R"({{"jobArn":"{}","jobName":"{}","jobId":"{}"}})", arns_.job(command->id),
                                   command->spec.name, command->id.text());
  if (command->spec.depends_on.empty()) return command_then(call, std::move(*command), std::move(answer));
  send_submission(call, std::make_shared<Submission>(Submission{std::move(*command), std::move(answer)}));
}

void BatchApi::send_submission(const CallPtr& call, const std::shared_ptr<Submission>& submission) {
  loop_.submit(submission->command, [this, call, submission](Result<Accepted> accepted) {
    if (!accepted) return call->refuse(accepted.error());
    if (accepted->unknown_dependencies.empty()) return call->answer_text(submission->answer);
    worker_.post([this, call, submission, unknown = std::move(accepted->unknown_dependencies)] {
      look_up_dependencies(call, submission, unknown);
    });
  });
}

void BatchApi::look_up_dependencies(const CallPtr& call, const std::shared_ptr<Submission>& submission,
                                    const std::vector<JobId>& unknown) {
  const auto found = history_.find(unknown);
  if (!found) return call->refuse(found.error());
  auto& finished = submission->command.finished_dependencies;
  for (const Job& job : *found) finished[job.id] = std::holds_alternative<job_state::Succeeded>(job.state);
  for (const JobId& id : unknown) {
    if (!finished.contains(id)) {
      return call->refuse({ErrorKind::kNotFound, fmt::format("'dependsOn': job {} does not exist", id.text())});
    }
  }
  send_submission(call, submission);
}

// ---- DescribeJobs ----

namespace {

struct Described {
  std::vector<JobId> asked;  // no id twice
  std::unordered_map<JobId, JobView> found;
};

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

void find_finished(const History& history, Described& described, Status& status) {
  std::vector<JobId> missing;
  for (const JobId& id : described.asked) {
    if (!described.found.contains(id)) missing.push_back(id);
  }
  if (missing.empty()) return;
  auto jobs = history.find(missing);
  if (!jobs) {
    status = std::unexpected(jobs.error());
    return;
  }
  for (Job& job : *jobs) {
    const JobId id = job.id;
    described.found.emplace(id, JobView{std::move(job), {}});
  }
}

}  // namespace

void BatchApi::describe_jobs(const CallPtr& call) {
  auto asked = parse_described(call->body, arns_);
  if (!asked) return call->refuse(asked.error());
  auto described = std::make_shared<Described>();
  described->asked = std::move(*asked);
  loop_.ask([this, call, described](const Controller& controller) {
    const State& state = controller.state();
    for (const JobId& id : described->asked) {
      if (const Job* job = state.job(id)) described->found.emplace(id, JobView{*job, controller.waiting_reason(*job)});
    }
    worker_.post([this, call, described] {
      Status status;
      find_finished(history_, *described, status);
      if (!status) return call->refuse(status.error());
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

// ---- ListJobs ----

struct BatchApi::Listing {
  ListQuery query;
  std::vector<JobView> live;
};

void BatchApi::list_jobs(const CallPtr& call) {
  auto query = parse_list(call->body, arns_);
  if (!query) return call->refuse(query.error());
  if (!registry_.queue(query->queue)) {
    return call->refuse({ErrorKind::kNotFound, fmt::format("Job queue '{}' does not exist", query->queue)});
  }
  auto listing = std::make_shared<Listing>();
  listing->query = std::move(*query);
  scan_on(call, listing, listing->query.order_below);
}

// Visits the loop slice by slice, so that a queue of a million jobs delays nobody.
void BatchApi::scan_on(const CallPtr& call, const std::shared_ptr<Listing>& listing, std::optional<uint64_t> below) {
  loop_.ask([this, call, listing, below](const Controller& controller) {
    const size_t wanted = static_cast<size_t>(listing->query.limit) + 1 - listing->live.size();
    LiveSlice slice = scan_live(controller, listing->query, below, wanted, kScanSlice);
    for (JobView& view : slice.found) listing->live.push_back(std::move(view));
    const bool enough = listing->live.size() > static_cast<size_t>(listing->query.limit);
    if (slice.go_on_below && !enough) return scan_on(call, listing, slice.go_on_below);
    worker_.post([this, call, listing] { finish_listing(call, *listing); });
  });
}

Result<std::vector<Job>> BatchApi::list_history(const ListQuery& query) const {
  std::vector<Job> out;
  if (!wants_history(query)) return out;
  // Only a definition's pattern is beyond what the history can select by itself.
  const bool selects_all = !query.definition.ends_with('*');
  const size_t wanted = static_cast<size_t>(query.limit) + 1;
  const int slice = selects_all ? static_cast<int>(wanted) : kHistorySlice;
  std::optional<uint64_t> below = query.order_below;
  for (;;) {
    TESON_TRY(std::vector<Job> jobs, history_.list(history_query(query, below, slice)));
    const bool last = jobs.size() < static_cast<size_t>(slice);
    if (!jobs.empty()) below = jobs.back().order;
    for (Job& job : jobs) {
      if (out.size() < wanted && matches(query, job)) out.push_back(std::move(job));
    }
    if (last || selects_all || out.size() == wanted) return out;
  }
}

void BatchApi::finish_listing(const CallPtr& call, Listing& listing) {
  auto finished = list_history(listing.query);
  if (!finished) return call->refuse(finished.error());
  const ListPage page = merged_page(std::move(listing.live), std::move(*finished), listing.query.limit);
  Json out = {{"jobSummaryList", Json::array()}};
  for (const JobView& view : page.jobs) out["jobSummaryList"].push_back(job_summary(view, arns_));
  if (page.next_token) out["nextToken"] = *page.next_token;
  call->answer(out);
}

// ---- CancelJob, TerminateJob ----

void BatchApi::stop_job(const CallPtr& call, StopKind kind) {
  const JsonValue value(call->body, "");
  const auto text = wire::required_string(value, "jobId");
  if (!text) return call->refuse(text.error());
  const auto reason = wire::required_string(value, "reason", kMaxReasonLength);
  if (!reason) return call->refuse(reason.error());
  const auto id = arns_.job_id(*text, "jobId");
  if (!id) return call->refuse(id.error());
  loop_.submit(command::StopJob{*id, kind, *reason}, [this, call, id = *id](Result<Accepted> accepted) {
    if (accepted) return call->answer_text("{}");
    if (accepted.error().kind != ErrorKind::kNotFound) return call->refuse(accepted.error());
    // A finished job is left as it is, and the call succeeds.
    worker_.post([this, call, id] {
      const auto found = history_.find(std::span(&id, 1));
      if (!found) return call->refuse(found.error());
      if (!found->empty()) return call->answer_text("{}");
      call->refuse({ErrorKind::kNotFound, fmt::format("Job {} does not exist", id.text())});
    });
  });
}

}  // namespace teson::batch
