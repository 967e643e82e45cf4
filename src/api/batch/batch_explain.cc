// GET /teson/v1/explain?job=ID: what keeps a job, or what ended it (docs/why-is-my-job-waiting.md). Ours, not AWS's.
#include <fmt/format.h>

#include "api/batch/batch_api.h"
#include "api/batch/gathered.h"
#include "core/explain/explain.h"

namespace teson::batch {
namespace {

Json explanation_json(const Job& job, const Explanation& why) {
  return {{"jobId", job.id.text()},
          {"jobName", job.spec.name},
          {"status", status_name(job)},
          {"sentence", why.sentence},
          {"lines", why.lines}};
}

struct Question {
  Gathered gathered;
  std::optional<Explanation> live;
};

}  // namespace

void BatchApi::explain(const CallPtr& call) {
  const auto text = call->request.query_parameter("job");
  if (!text) return call->refuse({ErrorKind::kInvalid, "the query has no 'job': /teson/v1/explain?job=ID"});
  const auto id = arns_.job_id(std::string(*text), "job");
  if (!id) return call->refuse(id.error());
  auto question = std::make_shared<Question>();
  question->gathered.asked = {*id};
  loop_.ask([this, call, question, id = *id](const Controller& controller) {
    gather_live(controller, question->gathered);
    if (const auto at = question->gathered.found.find(id);
        at != question->gathered.found.end() && !is_finished(at->second.job)) {
      question->live = controller.explain(at->second.job);
    }
    worker_.post([this, call, question, id] {
      if (auto status = gather_finished(history_, question->gathered); !status) return call->refuse(status.error());
      const auto at = question->gathered.found.find(id);
      if (at == question->gathered.found.end()) {
        return call->refuse({ErrorKind::kNotFound, fmt::format("job {} does not exist", id.text())});
      }
      const Job& job = at->second.job;
      call->answer(explanation_json(job, question->live ? *question->live : explain_end(job)));
    });
  });
}

}  // namespace teson::batch
