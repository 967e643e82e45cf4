// SubmitJob, ListJobs of a queue, CancelJob, TerminateJob.
#include <fmt/format.h>

#include "api/batch/batch_api.h"
#include "api/batch/submit.h"
#include "base/try.h"
#include "control/ended_dependencies.h"

namespace teson::batch {
namespace {

// Live jobs looked at per visit to the loop: some tenths of a millisecond.
constexpr size_t kScanSlice = 2'000;
constexpr int kHistorySlice = 1'000;

}  // namespace

// ---- SubmitJob ----

struct BatchApi::Submission {
  command::SubmitJob command;
  std::string answer;
};

Result<command::SubmitJob> BatchApi::make_submission(const CallPtr& call) {
  const Caller& by = call->request.caller;
  TESON_TRY_STATUS(take_owner_tag(call->body, by));
  if (settings_.admits) TESON_TRY_STATUS(settings_.admits(by.name));
  TESON_TRY(SubmitRequest request, parse_submit(call->body, arns_));
  const DefinitionRef ref = request.definition;
  const auto definition = registry_.definition(ref.name, ref.revision);
  if (!definition || !definition->active) {
    const std::string name = ref.revision == 0 ? ref.name : fmt::format("{}:{}", ref.name, ref.revision);
    return not_found(definition ? fmt::format("Job definition '{}' is INACTIVE: it was deregistered", name)
                                : fmt::format("Job definition '{}' does not exist or has no active revision", name));
  }
  TESON_TRY(const auto parsed, definitions_.get(definition));
  TESON_TRY(JobSpec spec, make_spec(std::move(request), *parsed, settings_));
  spec.owner = kept_owner(by);
  return command::SubmitJob{random_job_id(), std::move(spec), {}};
}

void BatchApi::submit_job(const CallPtr& call) {
  const size_t size = call->request.body.size();
  if (size > kMaxSubmitBytes) {
    return call->refuse(
        {ErrorKind::kInvalid,
         fmt::format("The request has {} bytes: SubmitJob takes at most {} (30 KiB)", size, kMaxSubmitBytes)});
  }
  auto command = make_submission(call);
  if (!command) return call->refuse(command.error());
  if (call->request.touched) call->request.touches("job/" + command->id.text());
  // Names and ids hold nothing that JSON must escape.
  std::string answer = fmt::format(R"({{"jobArn":"{}","jobName":"{}","jobId":"{}"}})", arns_.job(command->id),
                                   command->spec.name, command->id.text());
  const bool alone = command->spec.depends_on.empty() && !command->spec.array;
  if (alone) return command_then(call, std::move(*command), std::move(answer));
  auto submission = std::make_shared<Submission>(Submission{std::move(*command), std::move(answer)});
  const auto extensions = parse_extension_tags(submission->command.spec.tags);
  if (extensions && extensions->rerun_of) return prepare_rerun(call, submission, *extensions->rerun_of);
  send_submission(call, submission);
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
  auto found = find_ended(history_, unknown);
  if (!found) return call->refuse(found.error());
  for (const JobId& id : unknown) {
    if (!found->contains(id)) {
      return call->refuse({ErrorKind::kNotFound, fmt::format("'dependsOn': job {} does not exist", id.text())});
    }
  }
  submission->command.finished_dependencies.merge(*found);
  send_submission(call, submission);
}

// teson:rerun-of: the children that failed there are the children here, under the same indexes.
void BatchApi::prepare_rerun(const CallPtr& call, const std::shared_ptr<Submission>& submission, const JobId& of) {
  loop_.ask([this, call, submission, of](const Controller& controller) {
    if (const Job* job = controller.state().job(of)) {
      return call->refuse(
          {ErrorKind::kConflict, fmt::format("tag teson:rerun-of: job {} has not ended yet ({}): wait for "
                                             "its end, or stop it first",
                                             of.text(), controller.waiting_reason(*job))});
    }
    worker_.post([this, call, submission, of] {
      const auto found = history_.find(std::span(&of, 1));
      if (!found) return call->refuse(found.error());
      if (found->empty()) {
        return call->refuse(
            {ErrorKind::kNotFound, fmt::format("tag teson:rerun-of: job {} does not exist", of.text())});
      }
      if (auto status = choose_failed(found->front(), *submission->command.spec.array); !status) {
        return call->refuse(status.error());
      }
      send_submission(call, submission);
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
  if (query->array) return list_children(call, *query);
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
  // A definition's pattern and a share are beyond what the history can select by itself.
  const bool selects_all = !query.definition.ends_with('*') && query.share.empty();
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
  loop_.submit(command::StopJob{*id, kind, *reason, call->request.caller},
               [this, call, id = *id](Result<Accepted> accepted) {
                 if (accepted) return call->answer_text("{}");
                 if (accepted.error().kind != ErrorKind::kNotFound) return call->refuse(accepted.error());
                 // A finished job is left as it is, and the call succeeds.
                 worker_.post([this, call, id] {
                   const auto found = find_ended(history_, std::span(&id, 1));
                   if (!found) return call->refuse(found.error());
                   if (!found->empty()) return call->answer_text("{}");
                   call->refuse({ErrorKind::kNotFound, fmt::format("Job {} does not exist", id.text())});
                 });
               });
}

}  // namespace teson::batch
