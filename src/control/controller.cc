#include "control/controller.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>
#include <utility>

#include "control/handle.h"
#include "control/interrupt.h"
#include "control/launch_order.h"
#include "control/replay.h"
#include "core/explain/waiting.h"
#include "core/scheduler/decide.h"

namespace teson {
namespace {

constexpr Duration kJournalRetry = Duration::seconds(1);

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

}  // namespace

Controller::Controller(Journal& journal, Launcher& launcher, Site site)
    : journal_(journal), launcher_(launcher), site_(std::move(site)), state_(site_) {}

Status Controller::recover(Instant now) {
  if (auto status = reload(); !status) return status;
  clock_now_ = now;
  now_ = std::max(now, state_.last_fact_at());
  settle_live_attempts(now_);
  return {};
}

Status Controller::reload() {
  auto contents = journal_.load();
  if (!contents) return std::unexpected(contents.error());
  state_ = replay(site_, std::move(*contents));
  batch_.clear();
  finished_.clear();
  registry_.reset(state_);
  unloaded_ = false;
  unsettled_ = true;
  return {};
}

// "Launch outcome unknown" is a real state: each live attempt's directory says what became of it.
void Controller::settle_live_attempts(Instant now) {
  std::vector<AttemptId> live;
  for (const auto& [name, queue] : state_.queues()) {
    for (const auto& [order, id] : queue.jobs) {
      if (const Attempt* attempt = live_attempt(*state_.job(id))) live.push_back({id, attempt->number});
    }
  }
  std::vector<Input> reports;
  std::vector<AttemptId> unknown;
  for (const AttemptId& id : live) {
    const Job& job = *state_.job(id.job);
    std::visit(Overloaded{
                   [&](const AttemptUnknown&) {
                     // One that is known to have run is never started again under the same number.
                     if (live_attempt(job)->started) {
                       reports.emplace_back(AttemptReport{id, AttemptLostReport{now, "its directory is gone"}});
                     } else {
                       unknown.push_back(id);
                     }
                   },
                   [&](const AttemptAlive& alive) {
                     if (alive.started) reports.emplace_back(AttemptReport{id, AttemptStartedReport{*alive.started}});
                   },
                   [&](const AttemptEndedReport& ended) { reports.emplace_back(AttemptReport{id, ended}); },
                   [&](const AttemptLostReport& lost) { reports.emplace_back(AttemptReport{id, lost}); },
               },
               launcher_.settle(id));
  }
  launch_again(std::move(unknown));
  for (const AttemptId& id : live) {
    const Job& job = *state_.job(id.job);
    const auto left = interrupted_grace_left(state_, job, now);
    if (job.stop || left) launcher_.stop(id, left.value_or(job.spec.grace));
  }
  unsettled_ = false;
  step(clock_now_, reports);
}

// Only when all that live are known to the launcher, and each after the one whose place it waits for.
void Controller::launch_again(std::vector<AttemptId> ids) {
  while (!ids.empty()) {
    std::vector<AttemptId> later;
    const std::set<AttemptId> missing(ids.begin(), ids.end());
    for (const AttemptId& id : ids) {
      const Job& job = *state_.job(id.job);
      const auto& behind = live_attempt(job)->behind;
      if (behind && missing.contains(*behind)) {
        later.push_back(id);
      } else {
        launcher_.launch(make_launch_order(state_, job));
      }
    }
    ids = std::move(later);
  }
}

void Controller::step(Instant now, std::span<Input> inputs) {
  clock_now_ = now;
  now_ = std::max({now, now_, state_.last_fact_at()});
  if (!make_ready()) return refuse_all(inputs);
  for (Input& input : inputs) {
    if (auto* command = std::get_if<CommandInput>(&input)) {
      take(*command);
    } else if (const auto* report = std::get_if<AttemptReport>(&input)) {
      take(*report);
    } else if (auto* hold = std::get_if<HoldInput>(&input)) {
      hold_ = hold->reason;
    }
  }
  decide_all();
  if (!commit()) return refuse_all(inputs);
  finish_step(inputs);
}

// After a failed commit: wait a little, rebuild the state from the journal, ask what became of the live attempts.
bool Controller::make_ready() {
  if (!unloaded_ && !unsettled_) return true;
  if (clock_now_ < blocked_until_) return false;
  if (unloaded_) {
    if (const Status status = reload(); !status) {
      trouble_ = "The journal cannot be read: " + status.error().message;
      blocked_until_ = clock_now_ + kJournalRetry;
      return false;
    }
  }
  settle_live_attempts(now_);
  return !unloaded_ && !unsettled_;
}

void Controller::take(CommandInput& input) {
  auto handled = handle(state_, std::move(input.command), now_);
  if (!handled) {
    // Judged against facts that may not be durable yet, so told after the commit like every other answer.
    replies_.push_back({std::move(input.reply), std::unexpected(std::move(handled.error()))});
    return;
  }
  for (FactBody& body : handled->facts) record(std::move(body));
  replies_.push_back({std::move(input.reply), std::move(handled->accepted)});
}

void Controller::take(const AttemptReport& report) {
  auto facts = handle(state_, report, now_);
  // The end of an attempt that is not live was durable before: the launcher was not told, or has not heard.
  const bool is_end = !std::holds_alternative<AttemptStartedReport>(report.body);
  if (is_end && facts.empty()) forgotten_.push_back(report.id);
  for (FactBody& body : facts) record(std::move(body));
}

void Controller::record(FactBody body) {
  batch_.emplace_back(now_, std::move(body));
  state_.apply(batch_.back());
}

void Controller::decide_all() {
  while (auto decision = next_decision(state_, now_, !hold_)) record(std::move(*decision));
}

bool Controller::commit() {
  if (batch_.empty()) return true;
  finished_ = state_.take_finished();
  const Status status = journal_.append(batch_, finished_);
  if (status) {
    activity_.note(batch_);
    return true;
  }
  trouble_ = "The journal cannot be written, so nothing starts: " + status.error().message;
  spdlog::error("{}", trouble_);
  blocked_until_ = clock_now_ + kJournalRetry;
  // Whether the batch was kept only the journal knows: start again from it, exactly as after a crash.
  unloaded_ = true;
  if (const Status reloaded = reload(); !reloaded) spdlog::critical("nor can it be read: {}", reloaded.error().message);
  return false;
}

void Controller::refuse_all(std::span<Input> inputs) {
  const auto refusal = fail(ErrorKind::kUnavailable, trouble_.empty() ? "The control plane is not ready" : trouble_);
  auto replies = std::exchange(replies_, {});
  for (PendingReply& pending : replies) pending.reply(refusal);
  for (Input& input : inputs) {
    if (auto* command = std::get_if<CommandInput>(&input); command && command->reply) command->reply(refusal);
    if (auto* question = std::get_if<QuestionInput>(&input)) questions_.push_back(std::move(*question));
    if (const auto* hold = std::get_if<HoldInput>(&input)) hold_ = hold->reason;
  }
  forgotten_.clear();
  // A state that could not be rebuilt may hold what is not durable: nothing is read from it.
  if (!unloaded_) answer_questions();
}

void Controller::answer_questions() {
  for (QuestionInput& question : std::exchange(questions_, {})) question.question(*this);
}

void Controller::finish_step(std::span<Input> inputs) {
  trouble_ = hold_.value_or("");
  finished_.clear();
  for (const Fact& fact : batch_) registry_.apply(fact);
  for (PendingReply& pending : replies_) pending.reply(std::move(pending.answer));
  replies_.clear();
  for (const Fact& fact : batch_) carry_out(fact);
  batch_.clear();
  if (!forgotten_.empty()) launcher_.forget(forgotten_);
  forgotten_.clear();
  for (Input& input : inputs) {
    if (auto* question = std::get_if<QuestionInput>(&input)) questions_.push_back(std::move(*question));
  }
  answer_questions();
}

void Controller::carry_out(const Fact& fact) {
  if (const auto* placed = std::get_if<fact::AttemptPlaced>(&fact.body)) {
    const Job* job = state_.job(placed->id);
    const Attempt* live = job ? live_attempt(*job) : nullptr;
    if (live && live->number == placed->attempt.number) launcher_.launch(make_launch_order(state_, *job));
  } else if (const auto* stop = std::get_if<fact::StopRequested>(&fact.body)) {
    const Job* job = state_.job(stop->id);
    if (const Attempt* live = job ? live_attempt(*job) : nullptr) {
      launcher_.stop({job->id, live->number}, job->spec.grace);
    }
  } else if (const auto* interrupted = std::get_if<fact::InstanceInterrupted>(&fact.body)) {
    for (const JobId& id : state_.jobs_on(interrupted->id)) {
      const Job& job = *state_.job(id);
      launcher_.stop({id, live_attempt(job)->number}, job.spec.grace);
    }
  } else if (const auto* ended = std::get_if<fact::AttemptEnded>(&fact.body)) {
    launcher_.forget({&ended->id, 1});
  }
}

std::string Controller::waiting_reason(const Job& job) const {
  const bool could_start = std::holds_alternative<job_state::Runnable>(job.state);
  return could_start && !trouble_.empty() ? trouble_ : teson::waiting_reason(state_, job);
}

Explanation Controller::explain(const Job& job) const {
  Explanation out = explain_live(state_, job);
  if (std::holds_alternative<job_state::Runnable>(job.state) && !trouble_.empty()) out.sentence = trouble_;
  return out;
}

std::optional<Instant> Controller::next_wakeup() const {
  if (unloaded_ || unsettled_) return blocked_until_;
  return next_decision_at(state_, now_, !hold_);
}

}  // namespace teson
